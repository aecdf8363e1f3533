#pragma once

#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace attn::test {

/// Random numbers that are the same everywhere: the standard distributions are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 1) {
    for (int i = 0; i < 4; ++i) engine_();
  }

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Both ends included.
  Index between(Index low, Index high) {
    return low + static_cast<Index>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double p) { return uniform() < p; }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform()); }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<Index>(choices.size()) - 1));
  }

 private:
  std::mt19937_64 engine_;
};

/// Kinds of inputs that have broken kernels.
enum class Flavour {
  normal,          // N(0,1)
  large_scores,    // to about ±300
  all_negative,    // every score far below 0: a maximum that starts at 0 is found out
  ties,            // small whole numbers
  huge_values,     // V near the largest number of the precision
  early_overflow,  // q·k overflows, scaled it does not
  rising,          // every key beats those before it: the running maximum grows in each block
};

/// Makes random problems over every mask, bias, size and flavour. A seed gives the same problem for ever.
class RandomProblem {
 public:
  explicit RandomProblem(std::uint64_t seed) : dice_(seed) {
    choose_sizes();
    choose_options();
    choose_masks();
    fill();
    poison();
  }

  const Problem& problem() const { return p_; }
  Flavour flavour() const { return flavour_; }

 private:
  static std::size_t size(Index a, Index b, Index c, Index d) { return static_cast<std::size_t>(a * b * c * d); }
  double round(double x, DType dtype) const { return dtype == DType::f32 ? static_cast<double>(static_cast<float>(x)) : x; }

  void choose_sizes() {
    p_.dtype = dice_.chance(0.65) ? DType::f32 : DType::f64;
    p_.batch = dice_.chance(0.75) ? 1 : dice_.between(2, 3);
    p_.kv_heads = dice_.chance(0.6) ? 1 : dice_.between(2, 3);
    p_.heads = p_.kv_heads * (dice_.chance(0.6) ? 1 : dice_.between(2, 3));
    p_.queries = dice_.chance(0.2) ? 1 : dice_.between(1, 14);
    p_.keys = dice_.between(1, 24);
    p_.head_size = dice_.between(1, 12);
    p_.value_size = dice_.between(1, 12);
    const double shape = dice_.uniform();
    if (shape < 0.08) p_.keys = dice_.between(100, 300), p_.batch = 1, p_.heads = p_.kv_heads;
    if (shape > 0.95) p_.queries = dice_.between(40, 110), p_.batch = 1, p_.heads = p_.kv_heads = 1;
    if (dice_.chance(0.1)) p_.head_size = dice_.between(13, 70);
    if (dice_.chance(0.1)) p_.value_size = dice_.between(13, 70);
    if (dice_.chance(0.2)) p_.keys = p_.queries;
  }

  void choose_options() {
    p_.options.empty_rows = dice_.chance(0.9) ? EmptyRows::zero : EmptyRows::nan;
    if (dice_.chance(0.3)) p_.options.scale = dice_.pick({0.0, 1.0, -1.0, 0.37, -0.05, 2.5});
    if (dice_.chance(0.2)) p_.options.softcap = dice_.pick({0.5, 2.0, 30.0, 50.0});
    if (dice_.chance(0.15))
      for (Index h = 0; h < p_.heads; ++h) p_.sinks.push_back(round(dice_.uniform(-4, 4), p_.dtype));
  }

  void choose_masks() {
    MaskOptions& o = p_.masks;
    if (dice_.chance(0.35)) {
      o.causal = true;
      if (dice_.chance(0.25)) o.prefix = dice_.between(1, p_.keys);
    }
    if (dice_.chance(0.3))
      o.align = dice_.pick({Align::top_left, Align::bottom_right});
    else if (dice_.chance(0.3))
      o.query_offset = dice_.between(-3, p_.keys);
    else if (dice_.chance(0.2))
      o.past = dice_.between(0, p_.keys);
    if (dice_.chance(0.2)) o.window_left = dice_.between(-1, 6), o.window_right = dice_.between(-1, 6);
    if (dice_.chance(0.2))
      for (Index b = 0; b < (dice_.chance(0.5) ? 1 : p_.batch) || b == 0; ++b) o.key_lengths.push_back(dice_.between(0, p_.keys));
    if (!o.key_lengths.empty() && o.key_lengths.size() != 1) o.key_lengths.resize(static_cast<std::size_t>(p_.batch), p_.keys);
    if (dice_.chance(0.15)) choose_documents();
    if (dice_.chance(0.12)) o.alibi = true;
    while (dice_.chance(0.3)) p_.arrays.push_back(mask_array());
  }

  void choose_documents() {
    const bool sorted = dice_.chance(0.5), shared = dice_.chance(0.5);
    p_.masks.key_documents = ids((shared ? 1 : p_.batch) * p_.keys, sorted);
    if (p_.queries != p_.keys || dice_.chance(0.3))
      p_.masks.query_documents = ids((dice_.chance(0.5) ? 1 : p_.batch) * p_.queries, sorted);
  }
  std::vector<Index> ids(Index count, bool sorted) {
    std::vector<Index> ids;
    for (Index i = 0; i < count; ++i) ids.push_back(dice_.between(-1, 2));
    if (sorted) std::sort(ids.begin(), ids.end());
    return ids;
  }

  MaskNumbers mask_array() {
    MaskNumbers mask;
    mask.kind = dice_.pick({MaskKind::keep, MaskKind::block, MaskKind::add});
    const Index full[4] = {p_.batch, p_.heads, p_.queries, p_.keys};
    const Index rank = dice_.between(1, 4);
    for (Index axis = 4 - rank; axis < 4; ++axis)
      mask.numbers.shape.push_back(rank > 1 && dice_.chance(axis == 3 ? 0.1 : 0.3) ? 1 : full[axis]);
    mask.numbers.dtype = mask.kind == MaskKind::add ? dice_.pick({DType::f32, DType::f64, DType::i32})
                                                    : dice_.pick({DType::boolean, DType::u8, DType::i64, DType::f32, DType::f64});
    Index count = 1;
    for (const Index axis : mask.numbers.shape) count *= axis;
    const double density = dice_.pick({0.1, 0.5, 0.9, 1.0}), strength = dice_.pick({1.0, 10.0, 200.0});
    for (Index i = 0; i < count; ++i) mask.numbers.values.push_back(cell(mask, density, strength));
    return mask;
  }
  double cell(const MaskNumbers& mask, double density, double strength) {
    const bool seen = dice_.chance(density);
    if (mask.kind == MaskKind::keep) return seen;
    if (mask.kind == MaskKind::block) return !seen;
    if (mask.numbers.dtype == DType::i32) return static_cast<double>(dice_.between(-3, 3));
    return seen ? round(strength * dice_.normal(), mask.numbers.dtype) : -std::numeric_limits<double>::infinity();
  }

  void fill() {
    flavour_ = static_cast<Flavour>(dice_.between(0, 6));
    if (dice_.chance(0.4)) flavour_ = Flavour::normal;
    p_.query.resize(size(p_.batch, p_.heads, p_.queries, p_.head_size));
    p_.key.resize(size(p_.batch, p_.kv_heads, p_.keys, p_.head_size));
    p_.value.resize(size(p_.batch, p_.kv_heads, p_.keys, p_.value_size));
    const double most = p_.dtype == DType::f32 ? 3.3e38 : 1.7e308;
    for (double& x : p_.query) x = dice_.normal();
    for (double& x : p_.key) x = dice_.normal();
    for (double& x : p_.value) x = flavour_ == Flavour::huge_values ? most * dice_.uniform(-1, 1) : dice_.normal();
    shape_scores();
    for (std::vector<double>* all : {&p_.query, &p_.key, &p_.value})
      for (double& x : *all) x = round(x, p_.dtype);
  }

  void shape_scores() {
    const double d = static_cast<double>(p_.head_size);
    const double strong = std::sqrt(300.0 / std::sqrt(d));
    // Products near this overflow the precision.
    const double far = p_.dtype == DType::f32 ? 1e21 : 1e160;
    for (std::size_t i = 0; i < p_.query.size(); ++i) {
      double& q = p_.query[i];
      if (flavour_ == Flavour::large_scores) q *= strong;
      if (flavour_ == Flavour::all_negative) q = -10 * (std::abs(q) + 1);
      if (flavour_ == Flavour::ties) q = static_cast<double>(dice_.between(-2, 2));
      if (flavour_ == Flavour::early_overflow) q *= far;
      if (flavour_ == Flavour::rising) q = 1 + 0.1 * std::abs(q);
    }
    const double rising = dice_.pick({0.05, 1.0, 20.0}) * dice_.pick({1.0, -1.0});
    for (std::size_t i = 0; i < p_.key.size(); ++i) {
      double& k = p_.key[i];
      if (flavour_ == Flavour::large_scores) k *= strong;
      if (flavour_ == Flavour::all_negative) k = 10 * (std::abs(k) + 1);
      if (flavour_ == Flavour::ties) k = static_cast<double>(dice_.between(-2, 2));
      if (flavour_ == Flavour::early_overflow) k *= far;
      if (flavour_ == Flavour::rising) {
        const Index j = static_cast<Index>(i) / p_.head_size % p_.keys;
        k = rising * static_cast<double>(j) / d + 0.01 * k;
      }
    }
    if (flavour_ == Flavour::early_overflow) p_.options.scale = dice_.uniform(-1, 1) / (far * far);
  }

  /// What nobody may see can hold anything.
  void poison() {
    if (!dice_.chance(0.6)) return;
    const OracleMasks masks(p_);
    for (Index b = 0; b < p_.batch; ++b) {
      for (Index g = 0; g < p_.kv_heads; ++g)
        for (Index j = 0; j < p_.keys; ++j) {
          if (masks.live_key(b, g, j)) continue;
          const Index row = (b * p_.kv_heads + g) * p_.keys + j;
          poison_row(p_.key, row, p_.head_size);
          poison_row(p_.value, row, p_.value_size);
        }
      for (Index h = 0; h < p_.heads; ++h)
        for (Index i = 0; i < p_.queries; ++i)
          if (masks.row_empty(b, h, i)) poison_row(p_.query, (b * p_.heads + h) * p_.queries + i, p_.head_size);
    }
  }
  void poison_row(std::vector<double>& all, Index row, Index columns) {
    const double bad = dice_.pick(
        {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), round(1e30, p_.dtype), 0.0});
    for (Index c = 0; c < columns; ++c)
      if (dice_.chance(0.7)) all[static_cast<std::size_t>(row * columns + c)] = bad;
  }

  Dice dice_;
  Problem p_;
  Flavour flavour_ = Flavour::normal;
};

}  // namespace attn::test
