#pragma once

#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "support/oracle.hpp"

// A small tiled attention with an online softmax, right when no bug is switched on: what the tests are tested with.
namespace attn::test {

/// Bugs that real kernels have had, each one line of the toy.
enum class Bug {
  none,
  no_scale,
  output_not_rescaled,
  sum_not_rescaled,
  causal_off_by_one,
  causal_top_left,
  tail_block_dropped,
  tail_padded_with_zero_scores,
  no_maximum,
  maximum_from_zero,
  maximum_from_lowest_float,
  kv_head_by_modulo,
  softcap_after_mask,
  rough_exp,
  keys_split_by_threads,
  scale_of_value_size,
  mask_adds_a_number,
  bfloat16_sums,
  bfloat16_weights,
  key_and_value_swapped,
  value_of_head_zero,
  mask_multiplies_weights,
  maximum_of_first_block,
  last_row_stale,
};

inline constexpr std::array kBugs{
    Bug::no_scale,
    Bug::output_not_rescaled,
    Bug::sum_not_rescaled,
    Bug::causal_off_by_one,
    Bug::causal_top_left,
    Bug::tail_block_dropped,
    Bug::tail_padded_with_zero_scores,
    Bug::no_maximum,
    Bug::maximum_from_zero,
    Bug::maximum_from_lowest_float,
    Bug::kv_head_by_modulo,
    Bug::softcap_after_mask,
    Bug::rough_exp,
    Bug::keys_split_by_threads,
    Bug::scale_of_value_size,
    Bug::mask_adds_a_number,
    Bug::bfloat16_sums,
    Bug::bfloat16_weights,
    Bug::key_and_value_swapped,
    Bug::value_of_head_zero,
    Bug::mask_multiplies_weights,
    Bug::maximum_of_first_block,
    Bug::last_row_stale,
};

/// Solves problems in precision T, 8 keys at a time.
template <typename T>
class ToyAttention {
 public:
  ToyAttention(const Problem& problem, Bug bug, int threads)
      : bug_(bug), threads_(threads), p_(with_causal_bugs(problem, bug)), masks_(p_) {}

  Solution solve() {
    const std::size_t rows = static_cast<std::size_t>(p_.batch * p_.heads * p_.queries);
    solution_.weights.resize(rows * static_cast<std::size_t>(p_.keys));
    solution_.output.resize(rows * static_cast<std::size_t>(p_.value_size));
    solution_.lse.resize(rows);
    for (Index b = 0; b < p_.batch; ++b)
      for (Index h = 0; h < p_.heads; ++h)
        for (Index i = 0; i < p_.queries; ++i) row(b, h, i);
    return solution_;
  }

 private:
  static constexpr Index kBlock = 8;
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();

  static Problem with_causal_bugs(Problem p, Bug bug) {
    if (bug == Bug::causal_off_by_one && p.masks.causal) {
      const OracleMasks right(p);
      p.masks.query_offset = right.offset(0) + 1;
      p.masks.align.reset();
    }
    if (bug == Bug::causal_top_left) p.masks.align.reset();
    return p;
  }

  bool is(Bug bug) const { return bug_ == bug; }
  static T bfloat(T x) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    return static_cast<T>(std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u));
  }
  T exp(T x) const {
    return x == -kInfinity ? T(0)
                           : std::exp(x) * (is(Bug::rough_exp) ? T(1 + 2e-4 * std::sin(40 * static_cast<double>(x))) : T(1));
  }

  Index kv_head(Index h) const { return is(Bug::kv_head_by_modulo) ? h % p_.kv_heads : h / (p_.heads / p_.kv_heads); }
  const double* key_row(Index b, Index h, Index j) const {
    const bool swapped = is(Bug::key_and_value_swapped) && p_.head_size == p_.value_size;
    return (swapped ? p_.value : p_.key).data() + ((b * p_.kv_heads + kv_head(h)) * p_.keys + j) * p_.head_size;
  }
  const double* value_row(Index b, Index h, Index j) const {
    const bool swapped = is(Bug::key_and_value_swapped) && p_.head_size == p_.value_size;
    const Index g = is(Bug::value_of_head_zero) ? 0 : kv_head(h);
    return (swapped ? p_.key : p_.value).data() + ((b * p_.kv_heads + g) * p_.keys + j) * p_.value_size;
  }

  double scale() const {
    if (is(Bug::no_scale)) return 1;
    if (is(Bug::scale_of_value_size) && !p_.options.scale) return 1 / std::sqrt(static_cast<double>(p_.value_size));
    return p_.scale();
  }

  T score(const Cell& at) const {
    const bool allowed = masks_.allowed(at);
    const bool selects = !is(Bug::mask_adds_a_number) && !is(Bug::mask_multiplies_weights);
    if (!allowed && selects) return is(Bug::softcap_after_mask) && p_.options.softcap > 0 ? T(-p_.options.softcap) : -kInfinity;
    const double* const q = p_.query.data() + ((at.b * p_.heads + at.h) * p_.queries + at.i) * p_.head_size;
    const double* const k = key_row(at.b, at.h, at.j);
    T dot = 0;
    for (Index c = 0; c < p_.head_size; ++c) {
      dot += static_cast<T>(q[c]) * static_cast<T>(k[c]);
      if (is(Bug::bfloat16_sums)) dot = bfloat(dot);
    }
    Wide magnitude = 0;
    T score = static_cast<T>(scale()) * dot;
    const T cap = static_cast<T>(p_.options.softcap);
    if (cap > 0) score = cap * std::tanh(score / cap);
    score += allowed ? static_cast<T>(masks_.bias(at, magnitude)) : T(0);
    return !allowed && is(Bug::mask_adds_a_number) ? score - T(1e4) : score;
  }

  /// Sum, maximum and unnormalised output of some keys.
  struct Running {
    T maximum, sum = 0;
    std::vector<T> output;
  };

  void row(Index b, Index h, Index i) {
    T start = -kInfinity;
    if (is(Bug::maximum_from_zero) || is(Bug::no_maximum)) start = 0;
    if (is(Bug::maximum_from_lowest_float)) start = std::numeric_limits<T>::lowest();
    Running run{start, 0, std::vector<T>(static_cast<std::size_t>(p_.value_size))};
    std::vector<T> scores;
    const Index m = is(Bug::tail_block_dropped) && p_.keys > kBlock ? p_.keys / kBlock * kBlock : p_.keys;
    const Index block = is(Bug::keys_split_by_threads) ? std::max<Index>(1, (p_.keys + threads_ - 1) / threads_) : kBlock;
    for (Index begin = 0; begin < m; begin += block) keys(run, scores, {b, h, i, begin}, std::min(begin + block, m), block);
    if (!p_.sinks.empty()) add_sink(run, static_cast<T>(p_.sinks[static_cast<std::size_t>(h)]));
    finish(run, scores, {b, h, i, 0});
  }

  void keys(Running& run, std::vector<T>& scores, const Cell& at, Index end, Index block) {
    std::vector<T> block_scores;
    for (Index j = at.j; j < end; ++j) block_scores.push_back(score({at.b, at.h, at.i, j}));
    scores.insert(scores.end(), block_scores.begin(), block_scores.end());
    T maximum = run.maximum;
    if (!is(Bug::no_maximum) && !(is(Bug::maximum_of_first_block) && at.j > 0))
      for (const T s : block_scores) maximum = std::max(maximum, s);
    rescale(run, maximum);
    T sum = 0;
    std::vector<T> output(run.output.size(), T(0));
    for (Index j = at.j; j < end; ++j) {
      T weight = maximum == -kInfinity ? T(0) : exp(block_scores[static_cast<std::size_t>(j - at.j)] - maximum);
      if (is(Bug::mask_multiplies_weights)) weight *= masks_.allowed({at.b, at.h, at.i, j}) ? T(1) : T(0);
      if (is(Bug::bfloat16_weights)) weight = bfloat(weight);
      sum += weight;
      // A blocked key is not read; with the bugs that do not select, it is.
      const bool reads = masks_.allowed({at.b, at.h, at.i, j}) || is(Bug::mask_adds_a_number) ||
                         is(Bug::mask_multiplies_weights) || is(Bug::softcap_after_mask);
      if (!reads) continue;
      for (std::size_t c = 0; c < output.size(); ++c) output[c] += weight * static_cast<T>(value_row(at.b, at.h, j)[c]);
    }
    if (is(Bug::tail_padded_with_zero_scores) && maximum > -kInfinity)
      sum += static_cast<T>(block - (end - at.j)) * exp(-maximum);
    run.sum += sum;
    for (std::size_t c = 0; c < output.size(); ++c) run.output[c] += output[c];
  }

  void rescale(Running& run, T maximum) const {
    if (maximum == run.maximum) return;
    const T factor = exp(run.maximum - maximum);
    if (!is(Bug::sum_not_rescaled)) run.sum *= factor;
    if (!is(Bug::output_not_rescaled))
      for (T& x : run.output) x *= factor;
    run.maximum = maximum;
  }

  void add_sink(Running& run, T sink) const {
    rescale(run, std::max(run.maximum, sink));
    run.sum += exp(sink - run.maximum);
  }

  void finish(const Running& run, const std::vector<T>& scores, const Cell& at) {
    const std::size_t row = static_cast<std::size_t>((at.b * p_.heads + at.h) * p_.queries + at.i);
    const bool empty = masks_.row_empty(at.b, at.h, at.i);
    const bool zero = run.maximum == -kInfinity;
    solution_.report.empty_rows += empty;
    double* const weights = solution_.weights.data() + row * static_cast<std::size_t>(p_.keys);
    for (std::size_t j = 0; j < scores.size(); ++j)
      weights[j] = static_cast<double>(zero || scores[j] == -kInfinity ? T(0) : exp(scores[j] - run.maximum) / run.sum);
    double* const output = solution_.output.data() + row * run.output.size();
    const bool stale = is(Bug::last_row_stale) && at.i > 0 && at.i + 1 == p_.queries;
    for (std::size_t c = 0; c < run.output.size(); ++c)
      output[c] = stale ? output[static_cast<std::ptrdiff_t>(c) - static_cast<std::ptrdiff_t>(run.output.size())]
                        : static_cast<double>(zero ? T(0) : run.output[c] / run.sum);
    solution_.lse[row] = static_cast<double>(zero ? -kInfinity : run.maximum + std::log(run.sum));
  }

  Bug bug_;
  int threads_;
  Problem p_;
  OracleMasks masks_;
  Solution solution_;
};

inline Solution solve_with_toy(const Problem& problem, Bug bug, int threads = 1) {
  return problem.dtype == DType::f32 ? ToyAttention<float>(problem, bug, threads).solve()
                                     : ToyAttention<double>(problem, bug, threads).solve();
}

}  // namespace attn::test
