#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/problem.hpp"

// The attention of a problem once more, straight from the formula and in long double. Nothing here comes from the
// library: the masks are worked out cell by cell from the options as a user would read them.
namespace attn::test {

using Wide = long double;
inline constexpr Wide kWideInfinity = std::numeric_limits<Wide>::infinity();

/// One cell of the score matrix.
struct Cell {
  Index b, h, i, j;
};

class OracleMasks {
 public:
  explicit OracleMasks(const Problem& problem) : p_(problem) {}

  bool allowed(const Cell& at) const {
    const MaskOptions& o = p_.masks;
    const Index position = at.i + offset(at.b);
    if (o.causal && at.j > position && at.j >= o.prefix) return false;
    if (o.window_left >= 0 && at.j < position - o.window_left) return false;
    if (o.window_right >= 0 && at.j > position + o.window_right) return false;
    if (!o.key_lengths.empty() && at.j >= length(at.b)) return false;
    if (!o.key_documents.empty() && key_document(at) != query_document(at)) return false;
    for (const MaskNumbers& mask : p_.arrays) {
      const double number = number_at(mask.numbers, at);
      if (mask.kind == MaskKind::keep && number == 0) return false;
      if (mask.kind == MaskKind::block && number == 1) return false;
      if (mask.kind == MaskKind::add && number == -std::numeric_limits<double>::infinity()) return false;
    }
    return true;
  }

  /// What is added to a score, and the sum of the absolute addends (for the error bound).
  Wide bias(const Cell& at, Wide& magnitude) const {
    Wide sum = 0;
    magnitude = 0;
    const auto add = [&](Wide addend) { sum += addend, magnitude += std::abs(addend); };
    for (const MaskNumbers& mask : p_.arrays)
      if (mask.kind == MaskKind::add) add(number_at(mask.numbers, at));
    if (p_.masks.alibi) add(-slope(at.h) * std::abs(static_cast<Wide>(at.i + offset(at.b) - at.j)));
    const Wide most = p_.dtype == DType::f32 ? Wide(std::numeric_limits<float>::max()) : Wide(std::numeric_limits<double>::max());
    return std::clamp(sum, -most, most);
  }

  bool row_empty(Index b, Index h, Index i) const {
    for (Index j = 0; j < p_.keys; ++j)
      if (allowed({b, h, i, j})) return false;
    return true;
  }

  /// Whether some query of a head that reads key/value head g may see key j.
  bool live_key(Index b, Index g, Index j) const {
    const Index group = p_.heads / p_.kv_heads;
    for (Index h = g * group; h < (g + 1) * group; ++h)
      for (Index i = 0; i < p_.queries; ++i)
        if (allowed({b, h, i, j})) return true;
    return false;
  }

  /// Query i stands at key i + offset.
  Index offset(Index b) const {
    const MaskOptions& o = p_.masks;
    if (o.query_offset) return *o.query_offset;
    if (o.align && *o.align == Align::bottom_right) return (o.key_lengths.empty() ? p_.keys : length(b)) - p_.queries;
    return o.past;
  }

 private:
  static std::size_t at_index(Index i) { return static_cast<std::size_t>(i); }

  Index length(Index b) const { return p_.masks.key_lengths[p_.masks.key_lengths.size() == 1 ? 0 : at_index(b)]; }

  Index key_document(const Cell& at) const {
    const std::vector<Index>& ids = p_.masks.key_documents;
    return ids[at_index((at_index(p_.keys) == ids.size() ? 0 : at.b * p_.keys) + at.j)];
  }
  Index query_document(const Cell& at) const {
    const std::vector<Index>& ids = p_.masks.query_documents.empty() ? p_.masks.key_documents : p_.masks.query_documents;
    return ids[at_index((at_index(p_.queries) == ids.size() ? 0 : at.b * p_.queries) + at.i)];
  }

  /// Aligned at the last axis; an axis of 1 is repeated.
  double number_at(const Numbers& numbers, const Cell& at) const {
    const Index place[4] = {at.b, at.h, at.i, at.j};
    const std::size_t rank = numbers.shape.size();
    Index flat = 0;
    for (std::size_t a = 0; a < rank; ++a) flat = flat * numbers.shape[a] + (numbers.shape[a] == 1 ? 0 : place[4 - rank + a]);
    return numbers.values[at_index(flat)];
  }

  /// Press et al.: for a power of two 2^(-8/H), 2^(-16/H), ...; else those of the lower power and then, of the next
  /// power, the first, third, fifth, ...
  Wide slope(Index head) const {
    Index lower = 1;
    while (2 * lower <= p_.heads) lower *= 2;
    if (head < lower) return std::exp2(Wide(-8) * Wide(head + 1) / Wide(lower));
    return std::exp2(Wide(-8) * Wide(2 * (head - lower) + 1) / Wide(2 * lower));
  }

  const Problem& p_;
};

/// Exact results of one row and what bounds the error of a computed one.
struct OracleRow {
  bool empty = true;
  std::vector<Wide> raw, masked, weights;  // [m]; raw of blocked keys is not computed
  std::vector<Wide> output, spread;        // [v]: Σ p·v and S = Σ p·|v|
  std::vector<Wide> reach;                 // [v]: largest |v| that the query sees
  Wide log_sum_exp = -kWideInfinity;
  Wide condition = 0;      // A: largest scale·Σ|q·k| + Σ|bias| (+ 4C), sink included
  Wide range = 0;          // R: largest minus smallest allowed score, sink included
  Wide largest_score = 0;  // |scaled score| before softcap
};

class Oracle {
 public:
  explicit Oracle(const Problem& problem) : p_(problem), masks_(problem) {}

  const OracleMasks& masks() const { return masks_; }

  OracleRow row(Index b, Index h, Index i) const {
    OracleRow row;
    const std::size_t m = static_cast<std::size_t>(p_.keys);
    row.raw.assign(m, 0);
    row.masked.assign(m, -kWideInfinity);
    row.weights.assign(m, 0);
    row.output.assign(static_cast<std::size_t>(p_.value_size), 0);
    row.spread = row.reach = row.output;
    for (Index j = 0; j < p_.keys; ++j)
      if (masks_.allowed({b, h, i, j})) score(row, {b, h, i, j});
    soften(row, h);
    for (Index j = 0; j < p_.keys; ++j)
      if (row.masked[static_cast<std::size_t>(j)] > -kWideInfinity) weigh(row, b, h, j);
    return row;
  }

 private:
  Index kv_head(Index h) const { return h / (p_.heads / p_.kv_heads); }

  void score(OracleRow& row, const Cell& at) const {
    const double* const q = p_.query.data() + ((at.b * p_.heads + at.h) * p_.queries + at.i) * p_.head_size;
    const double* const k = p_.key.data() + ((at.b * p_.kv_heads + kv_head(at.h)) * p_.keys + at.j) * p_.head_size;
    Wide dot = 0, magnitude = 0, bias_magnitude = 0;
    for (Index c = 0; c < p_.head_size; ++c) dot += Wide(q[c]) * Wide(k[c]), magnitude += std::abs(Wide(q[c]) * Wide(k[c]));
    const Wide scale = p_.scale(), cap = p_.options.softcap;
    const Wide scaled = scale * dot;
    const Wide capped = cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
    const std::size_t j = static_cast<std::size_t>(at.j);
    row.raw[j] = scaled;
    row.masked[j] = capped + masks_.bias(at, bias_magnitude);
    row.empty = false;
    row.largest_score = std::max(row.largest_score, std::abs(scaled));
    row.condition = std::max(row.condition, std::abs(scale) * magnitude + bias_magnitude + 4 * cap);
  }

  void soften(OracleRow& row, Index h) const {
    Wide most = -kWideInfinity, least = kWideInfinity;
    const auto see = [&](Wide score) { most = std::max(most, score), least = std::min(least, score); };
    for (const Wide score : row.masked)
      if (score > -kWideInfinity) see(score);
    const bool sink = !p_.sinks.empty();
    if (sink) {
      see(p_.sinks[static_cast<std::size_t>(h)]);
      row.condition = std::max(row.condition, std::abs(Wide(p_.sinks[static_cast<std::size_t>(h)])));
    }
    if (most == -kWideInfinity) return;
    Wide sum = sink ? std::exp(p_.sinks[static_cast<std::size_t>(h)] - most) : 0;
    for (std::size_t j = 0; j < row.masked.size(); ++j) sum += row.weights[j] = std::exp(row.masked[j] - most);
    for (Wide& weight : row.weights) weight /= sum;
    row.log_sum_exp = most + std::log(sum);
    row.range = most - least;
  }

  void weigh(OracleRow& row, Index b, Index h, Index j) const {
    const double* const value = p_.value.data() + ((b * p_.kv_heads + kv_head(h)) * p_.keys + j) * p_.value_size;
    for (std::size_t c = 0; c < row.output.size(); ++c) {
      const Wide product = row.weights[static_cast<std::size_t>(j)] * Wide(value[c]);
      row.output[c] += product;
      row.spread[c] += std::abs(product);
      row.reach[c] = std::max(row.reach[c], std::abs(Wide(value[c])));
    }
  }

  const Problem& p_;
  OracleMasks masks_;
};

/// The derived bound on a kernel that sums keys in blocks of B, one partial sum per dot product. Units of last place,
/// so that float32 and float64 differ only in `unit`, the floor and where exp() becomes 0.
struct ErrorBound {
  ErrorBound(const Problem& problem, const OracleRow& row) {
    const bool single = problem.dtype == DType::f32;
    unit = single ? 0x1p-24L : 0x1p-53L;
    floor = single ? 1e-37L : 1e-300L;
    // `--precision float32` results below the smallest normal number have fewer digits.
    tiny = single ? 1e-38L : 1e-300L;
    const Wide d = static_cast<Wide>(problem.head_size), m = static_cast<Wide>(std::max<Index>(problem.keys, 1));
    block = std::min<Wide>(m, 128);
    blocks = std::ceil(m / block);
    range = std::min(row.range, single ? Wide(104) : Wide(745));
    changes = std::min<Wide>(blocks, 20);
    score = (d + 8) * row.condition;
    scores_known = unit * score < 0.25L;
  }

  /// E of one output column; a right kernel stays within a quarter of it.
  Wide output(const OracleRow& row, std::size_t column) const {
    if (!scores_known) return 8 * row.reach[column] + floor;
    return unit * (2 * score + 2 * range + 2 * (block + blocks) + 6 * changes + 10) * row.spread[column] + floor;
  }
  Wide weight(Wide exact) const {
    if (!scores_known) return 1;
    return unit * (score + range + 3 * changes + 3 + block + blocks + 4) * exact + tiny;
  }
  Wide row_sum() const { return unit * (2 * range + block + blocks + 12); }
  Wide log_sum_exp(Wide exact) const {
    return unit * (2 * (score + range + 3 * changes + 3) + block + blocks + 4 + std::abs(exact));
  }

  Wide unit, floor, tiny, block, blocks, range, changes, score;
  /// Where scores have no digit left (sums of huge products that cancel), any weighing of what is seen is as right as
  /// another, and the bounds of the first order say nothing.
  bool scores_known;
};

}  // namespace attn::test
