#pragma once

#include "core/tile/body/vector.hpp"

namespace attn::tile {
namespace {

template <int... I>
using Places = std::integer_sequence<int, I...>;

/// sums[r][v] += panel row v · scalars[r · row_step]: one step of a tile of R scalars against V vectors.
/// The places are spelled out by expansion: a loop over the array would keep it in memory instead of in registers.
template <typename B, int R, int V, int... I>
[[gnu::always_inline]] inline void add_products(B (&sums)[R * V], const Element<B>* panel, const Element<B>* scalars,
                                                Size row_step, Places<I...>) {
  B lanes[V];
#pragma GCC unroll 3
  for (int v = 0; v < V; ++v) {
    lanes[v] = B::load_unaligned(panel + v * kWidth<B>);
    keep(lanes[v]);
  }
  ((sums[I] = xsimd::fma(lanes[I % V], B(scalars[(I / V) * row_step]), sums[I])), ...);
}

/// One vector of finished products: stored with bias and block if there are any; raises `highest`, adds to `seen`.
template <typename B, bool kBiased>
[[gnu::always_inline]] inline void finish_score(const B& sum, Element<B>* score, const Element<B>* bias, B& highest, B& seen) {
  using T = Element<B>;
  B settled = sum;
  if constexpr (kBiased) {
    const B added = B::load_unaligned(bias);
    const auto blocked = added == B(-kInfinity<T>);
    settled = xsimd::select(blocked, B(-kInfinity<T>), sum + added);
    seen += xsimd::select(blocked, B(T(0)), settled);
  } else {
    seen += sum;
  }
  settled.store_unaligned(score);
  highest = xsimd::max(highest, settled);
}

/// What follows the products of a score tile for its vector v: key by key, so that two registers hold what is kept.
template <typename B, int R, int V, bool kBiased, int v, int... r>
[[gnu::always_inline]] inline void finish_lanes(const B (&sums)[R * V], const ScoreStep<Element<B>>& step, Size key,
                                                Places<r...>) {
  constexpr Size kAt = v * kWidth<B>;
  B highest = B::load_unaligned(step.highest + kAt);
  B seen(Element<B>(0));
  Element<B>* scores = step.scores + key * V * kWidth<B> + kAt;
  [[maybe_unused]] const Element<B>* bias = kBiased ? step.bias + key * V * kWidth<B> + kAt : scores;
  (finish_score<B, kBiased>(sums[r * V + v], scores + r * V * kWidth<B>, bias + r * V * kWidth<B>, highest, seen), ...);
  highest.store_unaligned(step.highest + kAt);
  (B::load_unaligned(step.check + kAt) + (seen - seen)).store_unaligned(step.check + kAt);
}

template <typename B, int R, int V, bool kBiased, int... v>
[[gnu::always_inline]] inline void finish_scores(const B (&sums)[R * V], const ScoreStep<Element<B>>& step, Size key,
                                                 Places<v...>) {
  (finish_lanes<B, R, V, kBiased, v>(sums, step, key, std::make_integer_sequence<int, R>{}), ...);
}

/// R keys from `key` on against a panel of V vectors. Never inlined: inside a larger loop the sums spill.
template <typename B, int R, int V, bool kBiased>
[[gnu::noinline]] void score_tile(const ScoreStep<Element<B>>& step, Size key) {
  using All = std::make_integer_sequence<int, R * V>;
  B sums[R * V] = {};
  const Element<B>* panel = step.panel;
  const Element<B>* keys = step.keys + key * step.key_stride;
  const Size stride = step.key_stride;
  Size left = step.depth;
  do {
    add_products<B, R, V>(sums, panel, keys, stride, All{});
    panel += V * kWidth<B>;
    ++keys;
  } while (--left > 0);
  finish_scores<B, R, V, kBiased>(sums, step, key, std::make_integer_sequence<int, V>{});
}

/// out[r][v] = out · rescale + sum, r over R columns of the values.
template <typename B, int R, int V, int... I>
[[gnu::always_inline]] inline void finish_sums(const B (&sums)[R * V], const SumStep<Element<B>>& step, Size column,
                                               Places<I...>) {
  B rescale[V];
#pragma GCC unroll 3
  for (int v = 0; v < V; ++v) rescale[v] = B::load_unaligned(step.rescale + v * kWidth<B>);
  Element<B>* out = step.out + column * V * kWidth<B>;
  (xsimd::fma(B::load_unaligned(out + I * kWidth<B>), rescale[I % V], sums[I]).store_unaligned(out + I * kWidth<B>), ...);
}

/// R columns from `column` on of the values against a panel of weights of V vectors.
template <typename B, int R, int V>
[[gnu::noinline]] void sum_tile(const SumStep<Element<B>>& step, Size column) {
  using All = std::make_integer_sequence<int, R * V>;
  B sums[R * V] = {};
  const Element<B>* weights = step.weights;
  const Element<B>* values = step.values + column;
  const Size stride = step.value_stride;
  Size left = step.key_count;
  do {
    add_products<B, R, V>(sums, weights, values, 1, All{});
    weights += V * kWidth<B>;
    values += stride;
  } while (--left > 0);
  finish_sums<B, R, V>(sums, step, column, All{});
}

/// How many scalars stand against V vectors in a full tile: as many sums as the registers hold.
template <typename B, int V>
inline constexpr int kTileRows = B::arch_type::requires_alignment() && sizeof(Element<B>) * kWidth<B> == 64
                                     ? (V == 3 ? 8 : (V == 2 ? 12 : 16))
                                     : (V == 3 ? 4 : (V == 2 ? 6 : 8));

/// The tile for what is left after the full ones: rows of 1 to R-1.
template <typename B, int R, int V, bool kBiased>
void score_rest(const ScoreStep<Element<B>>& step, Size key, Size rows) {
  if constexpr (R > 0) {
    if (rows == R) return score_tile<B, R, V, kBiased>(step, key);
    score_rest<B, R - 1, V, kBiased>(step, key, rows);
  }
}

template <typename B, int V, bool kBiased>
void score_panel(const ScoreStep<Element<B>>& step) {
  constexpr int kRows = kTileRows<B, V>;
  Size key = 0;
  for (; key + kRows <= step.key_count; key += kRows) score_tile<B, kRows, V, kBiased>(step, key);
  score_rest<B, kRows - 1, V, kBiased>(step, key, step.key_count - key);
}

template <typename B>
void scores(const ScoreStep<Element<B>>& step) {
  const bool biased = step.bias != nullptr;
  const Size vectors = step.lanes / kWidth<B>;
  if (vectors == 3) return biased ? score_panel<B, 3, true>(step) : score_panel<B, 3, false>(step);
  if (vectors == 2) return biased ? score_panel<B, 2, true>(step) : score_panel<B, 2, false>(step);
  return biased ? score_panel<B, 1, true>(step) : score_panel<B, 1, false>(step);
}

template <typename B, int R, int V>
void sum_rest(const SumStep<Element<B>>& step, Size column, Size rows) {
  if constexpr (R > 0) {
    if (rows == R) return sum_tile<B, R, V>(step, column);
    sum_rest<B, R - 1, V>(step, column, rows);
  }
}

template <typename B, int V>
void sum_panel(const SumStep<Element<B>>& step) {
  constexpr int kRows = kTileRows<B, V>;
  Size column = 0;
  for (; column + kRows <= step.columns; column += kRows) sum_tile<B, kRows, V>(step, column);
  sum_rest<B, kRows - 1, V>(step, column, step.columns - column);
}

template <typename B>
void sums(const SumStep<Element<B>>& step) {
  const Size vectors = step.lanes / kWidth<B>;
  if (vectors == 3) return sum_panel<B, 3>(step);
  if (vectors == 2) return sum_panel<B, 2>(step);
  return sum_panel<B, 1>(step);
}

}  // namespace
}  // namespace attn::tile
