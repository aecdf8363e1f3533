#pragma once

#include "core/tile/body/softmax.hpp"

namespace attn::tile {
namespace {

// One query, or the few that share keys, over many keys: every key and value is read once, so memory sets the pace.

template <typename B>
[[gnu::always_inline]] inline Element<B> sum_of(const B& vector) {
  return xsimd::hadd(vector);
}

/// R query rows against K keys: R · K dot products, vectors along the head size, the rest of it one by one.
template <typename B, int R, int K>
[[gnu::noinline]] void row_score_tile(const RowScoreStep<Element<B>>& step, Size key) {
  using T = Element<B>;
  B sums[R][K] = {};
  const Size whole = step.depth - step.depth % kWidth<B>;
  const T* keys = step.keys + key * step.key_stride;
  for (Size c = 0; c < whole; c += kWidth<B>) {
    B key_part[K];
#pragma GCC unroll 2
    for (int k = 0; k < K; ++k) key_part[k] = B::load_unaligned(keys + k * step.key_stride + c);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const B query = B::load_unaligned(step.queries + r * step.query_stride + c);
#pragma GCC unroll 2
      for (int k = 0; k < K; ++k) sums[r][k] = xsimd::fma(query, key_part[k], sums[r][k]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int k = 0; k < K; ++k) {
      T score = sum_of(sums[r][k]);
      for (Size c = whole; c < step.depth; ++c) score += step.queries[r * step.query_stride + c] * keys[k * step.key_stride + c];
      step.scores[r * step.score_stride + key + k] = score;
    }
}

/// Asks for the lines of rows that will be needed soon.
template <typename T>
[[gnu::always_inline]] inline void prefetch_rows(const T* first, Size stride, Size rows, Size columns) {
  for (Size r = 0; r < rows; ++r)
    for (Size c = 0; c < columns; c += 64 / static_cast<Size>(sizeof(T))) __builtin_prefetch(first + r * stride + c);
}

template <typename B, int R>
void row_scores_of(const RowScoreStep<Element<B>>& step) {
  constexpr Size kAhead = 16;
  Size key = 0;
  for (; key + 2 <= step.key_count; key += 2) {
    if (key + kAhead + 2 <= step.key_count)
      prefetch_rows(step.keys + (key + kAhead) * step.key_stride, step.key_stride, 2, step.depth);
    row_score_tile<B, R, 2>(step, key);
  }
  if (key < step.key_count) row_score_tile<B, R, 1>(step, key);
}

template <typename B>
void row_scores(const RowScoreStep<Element<B>>& step) {
  if (step.rows == 4) return row_scores_of<B, 4>(step);
  if (step.rows == 3) return row_scores_of<B, 3>(step);
  if (step.rows == 2) return row_scores_of<B, 2>(step);
  row_scores_of<B, 1>(step);
}

template <typename T>
T bigger(T a, T b) {
  return a < b ? b : a;
}

/// As a vector, with the lanes from `count` on filled.
template <typename B>
B load_part(const Element<B>* from, Size count, Element<B> filling) {
  Element<B> lanes[B::size];
  for (Size i = 0; i < kWidth<B>; ++i) lanes[i] = i < count ? from[i] : filling;
  return B::load_unaligned(lanes);
}

template <typename B>
void store_part(const B& vector, Element<B>* to, Size count) {
  Element<B> lanes[B::size];
  vector.store_unaligned(lanes);
  for (Size i = 0; i < count; ++i) to[i] = lanes[i];
}

/// The last few scores of a row as a whole vector, of which the rest is blocked.
template <typename B>
struct RowEnd {
  using T = Element<B>;
  T scores[B::size];
  T bias[B::size];

  RowEnd(const T* from, const T* bias_from, Size count) {
    load_part<B>(from, count, 0).store_unaligned(scores);
    for (Size i = 0; i < kWidth<B>; ++i) bias[i] = i >= count ? -kInfinity<T> : (bias_from != nullptr ? bias_from[i] : T(0));
  }
};

template <typename B>
void row_settle(RowSettleStep<Element<B>>& step) {
  using T = Element<B>;
  const bool cap = step.height != 0;
  const B height(step.height), shrink(step.shrink);
  B highest(-kInfinity<T>), check(T(0));
  const Size rest = step.count % kWidth<B>;
  const Size whole = step.count - rest;
  for (Size at = 0; at < whole; at += kWidth<B>) {
    const T* bias = step.bias != nullptr ? step.bias + at : nullptr;
    settled(B::load_unaligned(step.scores + at), cap, height, shrink, bias, highest, check).store_unaligned(step.scores + at);
  }
  if (rest > 0) {
    const RowEnd<B> end(step.scores + whole, step.bias != nullptr ? step.bias + whole : nullptr, rest);
    store_part(settled(B::load_unaligned(end.scores), cap, height, shrink, end.bias, highest, check), step.scores + whole, rest);
  }
  step.highest = -kInfinity<T>;
  T lanes[B::size];
  highest.store_unaligned(lanes);
  for (Size i = 0; i < kWidth<B>; ++i) step.highest = bigger(step.highest, lanes[i]);
  step.check = sum_of(check);
}

template <typename B>
void row_powers(RowPowerStep<Element<B>>& step) {
  const B base(step.maximum);
  step.total = sum_of(raise_lanes<B, true>(step.scores, kWidth<B>, step.count / kWidth<B>, base, base));
}

/// R rows of weights times C vectors of value columns.
template <typename B, int R, int C>
[[gnu::noinline]] void row_sum_tile(const RowSumStep<Element<B>>& step, Size column) {
  B sums[R][C] = {};
  const Element<B>* values = step.values + column;
  for (Size key = 0; key < step.key_count; ++key, values += step.value_stride) {
    B value[C];
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) value[c] = B::load_unaligned(values + c * kWidth<B>);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const B weight(step.weights[r * step.weight_stride + key]);
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) sums[r][c] = xsimd::fma(value[c], weight, sums[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) {
      Element<B>* out = step.out + r * step.out_stride + column + c * kWidth<B>;
      (B::load_unaligned(out) + sums[r][c]).store_unaligned(out);
    }
}

template <typename B, int R>
void row_sums_of(const RowSumStep<Element<B>>& step) {
  using T = Element<B>;
  Size column = 0;
  for (; column + 2 * kWidth<B> <= step.columns; column += 2 * kWidth<B>) row_sum_tile<B, R, 2>(step, column);
  if (column + kWidth<B> <= step.columns) {
    row_sum_tile<B, R, 1>(step, column);
    column += kWidth<B>;
  }
  for (; column < step.columns; ++column)
    for (int r = 0; r < R; ++r) {
      T sum = 0;
      for (Size key = 0; key < step.key_count; ++key)
        sum += step.weights[r * step.weight_stride + key] * step.values[key * step.value_stride + column];
      step.out[r * step.out_stride + column] += sum;
    }
}

template <typename B>
void row_sums(const RowSumStep<Element<B>>& step) {
  if (step.rows == 4) return row_sums_of<B, 4>(step);
  if (step.rows == 3) return row_sums_of<B, 3>(step);
  if (step.rows == 2) return row_sums_of<B, 2>(step);
  row_sums_of<B, 1>(step);
}

}  // namespace
}  // namespace attn::tile
