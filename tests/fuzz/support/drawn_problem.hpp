#pragma once

#include "fuzz/support/draws.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace attn::fuzz {

/// A problem of attention drawn from an input: any small shape, every mask and option, numbers by their bits. What nobody
/// may see can hold anything; what somebody sees is finite.
class DrawnProblem {
 public:
  explicit DrawnProblem(Draws& draws) : draws_(draws) {
    sizes();
    options();
    masks();
    numbers(p_.query, p_.batch * p_.heads * p_.queries * p_.head_size);
    numbers(p_.key, p_.batch * p_.kv_heads * p_.keys * p_.head_size);
    numbers(p_.value, p_.batch * p_.kv_heads * p_.keys * p_.value_size);
    tame_values();
    if (draws_.flag()) poison();
  }

  const test::Problem& problem() const { return p_; }
  /// The largest scaled score that any query sees.
  long double largest_score() const { return largest_score_; }

 private:
  void sizes() {
    const unsigned bits = draws_.byte();
    p_.dtype = (bits & 1) != 0 ? DType::f32 : DType::f64;
    p_.batch = 1 + (bits >> 1 & 1);
    p_.kv_heads = 1 + (bits >> 2 & 1);
    p_.heads = p_.kv_heads * (1 + (bits >> 3 & 3) % 3);
    // Tiles and blocks need some room; one problem in 32 has it, since it takes as long as many small ones.
    const bool large = (bits >> 5) == 7 && draws_.between(0, 3) == 3;
    p_.queries = draws_.between(0, large ? 40 : 9);
    p_.keys = draws_.between(0, large ? 40 : 13);
    p_.head_size = draws_.between(1, large ? 40 : 9);
    p_.value_size = draws_.between(1, large ? 40 : 9);
  }

  void options() {
    static constexpr double kScales[] = {0.0, 1.0, -1.0, 0.37, -0.05, 2.5, 1e-6, 1e6};
    static constexpr double kCaps[] = {0, 0, 0, 0.5, 2, 30, 50, 1000};
    const unsigned bits = draws_.byte();
    if ((bits & 1) != 0) p_.options.scale = kScales[bits >> 1 & 7];
    p_.options.softcap = kCaps[bits >> 4 & 7];
    p_.options.empty_rows = (bits & 128) != 0 ? EmptyRows::nan : EmptyRows::zero;
    if (draws_.between(0, 7) == 0)
      for (Index h = 0; h < p_.heads; ++h) p_.sinks.push_back(small());
  }

  void masks() {
    MaskOptions& o = p_.masks;
    const unsigned bits = draws_.byte();
    o.causal = (bits & 1) != 0;
    if (o.causal && (bits & 2) != 0) o.prefix = draws_.between(0, p_.keys);
    const unsigned place = bits >> 2 & 3;
    if (place == 1) o.align = draws_.flag() ? Align::bottom_right : Align::top_left;
    if (place == 2) o.query_offset = draws_.between(-5, p_.keys + 5);
    if (place == 3) o.past = draws_.between(0, p_.keys);
    if ((bits & 16) != 0) o.window_left = draws_.between(-1, 6), o.window_right = draws_.between(-1, 6);
    if ((bits & 32) != 0)
      for (Index b = 0, count = draws_.flag() ? 1 : p_.batch; b < count; ++b) o.key_lengths.push_back(draws_.between(0, p_.keys));
    if ((bits & 64) != 0 && p_.keys > 0 && p_.queries > 0) documents();
    o.alibi = (bits & 128) != 0 && draws_.flag();
    for (Index count = draws_.between(0, 5) - 3; count > 0; --count) p_.arrays.push_back(mask_array());
  }

  void documents() {
    for (Index i = 0; i < p_.keys; ++i) p_.masks.key_documents.push_back(draws_.between(-1, 2));
    if (p_.queries != p_.keys || draws_.flag())
      for (Index i = 0; i < p_.queries; ++i) p_.masks.query_documents.push_back(draws_.between(-1, 2));
  }

  test::MaskNumbers mask_array() {
    static constexpr MaskKind kKinds[] = {MaskKind::keep, MaskKind::block, MaskKind::add};
    static constexpr DType kFlags[] = {DType::boolean, DType::u8, DType::i64, DType::f32, DType::f64};
    test::MaskNumbers mask;
    mask.kind = kKinds[draws_.between(0, 2)];
    const Index full[4] = {p_.batch, p_.heads, p_.queries, p_.keys};
    const Index rank = draws_.between(1, 4);
    for (Index axis = 4 - rank; axis < 4; ++axis)
      mask.numbers.shape.push_back(rank > 1 && draws_.between(0, 3) == 0 ? 1 : full[axis]);
    mask.numbers.dtype = mask.kind == MaskKind::add ? (draws_.flag() ? DType::f32 : DType::f64) : kFlags[draws_.between(0, 4)];
    Index count = 1;
    for (const Index axis : mask.numbers.shape) count *= axis;
    for (Index i = 0; i < count; ++i) {
      const bool one = draws_.flag();
      const double blocked = -std::numeric_limits<double>::infinity();
      mask.numbers.values.push_back(mask.kind == MaskKind::add ? (one ? small() : blocked) : static_cast<double>(one));
    }
    return mask;
  }

  double small() { return draws_.bits<std::int8_t>() / 4.0; }

  double number(std::int64_t kind) {
    if (kind == 0) return small();
    if (kind == 1) return std::ldexp(small(), static_cast<int>(draws_.between(-20, 20)));
    const double value = p_.dtype == DType::f32 ? static_cast<double>(draws_.bits<float>()) : draws_.bits<double>();
    return std::isfinite(value) ? value : 1;
  }

  void numbers(std::vector<double>& all, Index count) {
    const std::int64_t kind = draws_.between(0, 2);
    for (Index i = 0; i < count; ++i) {
      const double value = number(kind);
      all.push_back(p_.dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value);
    }
  }

  /// The bound leaves out weights that are too small for the precision and count as 0: where scores lie that far apart,
  /// values stay small enough that what is lost is small too.
  void tame_values() {
    const test::Oracle oracle(p_);
    const long double far = p_.dtype == DType::f32 ? 80 : 690;
    bool tame = true;
    for (Index b = 0; b < p_.batch; ++b)
      for (Index h = 0; h < p_.heads; ++h)
        for (Index i = 0; i < p_.queries; ++i) {
          const test::OracleRow row = oracle.row(b, h, i);
          tame = tame && row.range < far;
          largest_score_ = std::max(largest_score_, row.largest_score);
        }
    for (double& value : p_.value)
      if (!tame && std::abs(value) > 1e-3) value = std::copysign(std::ldexp(1.0, -10), value);
  }

  void poison() {
    const test::OracleMasks masks(p_);
    const double bad = draws_.flag() ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    const auto spoil = [&](std::vector<double>& all, Index row, Index columns) {
      for (Index c = 0; c < columns; ++c) all[static_cast<std::size_t>(row * columns + c)] = bad;
    };
    for (Index b = 0; b < p_.batch; ++b) {
      for (Index g = 0; g < p_.kv_heads; ++g)
        for (Index j = 0; j < p_.keys; ++j) {
          if (masks.live_key(b, g, j)) continue;
          spoil(p_.key, (b * p_.kv_heads + g) * p_.keys + j, p_.head_size);
          spoil(p_.value, (b * p_.kv_heads + g) * p_.keys + j, p_.value_size);
        }
      for (Index h = 0; h < p_.heads; ++h)
        for (Index i = 0; i < p_.queries; ++i)
          if (masks.row_empty(b, h, i)) spoil(p_.query, (b * p_.heads + h) * p_.queries + i, p_.head_size);
    }
  }

  Draws& draws_;
  test::Problem p_;
  long double largest_score_ = 0;
};

}  // namespace attn::fuzz
