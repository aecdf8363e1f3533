#pragma once

#include "core/tile/body/softmax.hpp"

namespace attn::tile {
namespace {

// One query, or the few that share keys, over many keys: every key and value is read once, so memory sets the pace.

template <typename B>
[[gnu::always_inline]] inline Element<B> sum_of(const B& vector) {
  return xsimd::hadd(vector);
}

/// A sum across the lanes of each of N vectors, always in the same order, whoever stands beside them.
template <typename B, int N>
[[gnu::always_inline]] inline void sum_each(const B (&vectors)[N], Element<B>* to) {
  constexpr int kSquare = static_cast<int>(B::size), kSquares = (N + kSquare - 1) / kSquare;
#pragma GCC unroll 8
  for (int square = 0; square < kSquares; ++square) {
    B part[kSquare];
#pragma GCC unroll 16
    for (int i = 0; i < kSquare; ++i) {
      const int from = square * kSquare + i;
      part[i] = from < N ? vectors[from < N ? from : 0] : B(Element<B>(0));
    }
    xsimd::haddp(part).store_unaligned(to + square * kSquare);
  }
}

/// How many keys are taken together with R query rows: as many sums as hide the latency of one.
template <int R>
inline constexpr int kKeysTogether = R == 1 ? 8 : (R == 2 ? 4 : 2);

/// R query rows against K keys: R · K dot products, vectors along the head size, the rest of it one by one.
template <typename B, int R, int K>
[[gnu::noinline]] void row_score_tile(const RowScoreStep<Element<B>>& step, Size key) {
  using T = Element<B>;
  B sums[R * K] = {};
  const Size whole = step.depth - step.depth % kWidth<B>;
  const T* keys = step.keys + key * step.key_stride;
  for (Size c = 0; c < whole; c += kWidth<B>) {
    B query[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      query[r] = B::load_unaligned(step.queries + r * step.query_stride + c);
      keep(query[r]);
    }
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) {
      const B key_part = B::load_unaligned(keys + k * step.key_stride + c);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sums[r * K + k] = xsimd::fma(query[r], key_part, sums[r * K + k]);
    }
  }
  T scores[R * K + B::size];
  sum_each(sums, scores);
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) {
      T score = scores[r * K + k];
      for (Size c = whole; c < step.depth; ++c) score += step.queries[r * step.query_stride + c] * keys[k * step.key_stride + c];
      step.scores[r * step.score_stride + key + k] = score;
    }
}

/// Asks for the lines of rows that will be needed soon.
template <typename T>
[[gnu::always_inline]] inline void prefetch_rows(const T* first, Size stride, Size rows, Size columns) {
  for (Size r = 0; r < rows; ++r)
    for (Size c = 0; c < columns; c += 64 / static_cast<Size>(sizeof(T))) __builtin_prefetch(first + r * stride + c, 0, 2);
}

template <typename B, int R>
void row_scores_of(const RowScoreStep<Element<B>>& step) {
  constexpr int kKeys = kKeysTogether<R>;
  constexpr Size kAhead = 24;
  const Size known = step.key_count + step.keys_after;
  Size key = 0;
  for (; key + kKeys <= step.key_count; key += kKeys) {
    if (key + kAhead + kKeys <= known)
      prefetch_rows(step.keys + (key + kAhead) * step.key_stride, step.key_stride, kKeys, step.depth);
    if (step.next != nullptr) prefetch_rows(step.next + key * step.next_stride, step.next_stride, kKeys, step.next_columns);
    row_score_tile<B, R, kKeys>(step, key);
  }
  for (; key < step.key_count; ++key) row_score_tile<B, R, 1>(step, key);
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
    B weight[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) weight[r] = B(step.weights[r * step.weight_stride + key]);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const B value = B::load_unaligned(values + c * kWidth<B>);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sums[r][c] = xsimd::fma(value, weight[r], sums[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      Element<B>* out = step.out + r * step.out_stride + column + c * kWidth<B>;
      (B::load_unaligned(out) + sums[r][c]).store_unaligned(out);
    }
}

/// Columns from `column` on, C vectors at a time, then half as many; returns where less than a vector is left.
template <typename B, int R, int C>
Size row_sum_columns(const RowSumStep<Element<B>>& step, Size column) {
  for (; column + C * kWidth<B> <= step.columns; column += C * kWidth<B>) row_sum_tile<B, R, C>(step, column);
  if constexpr (C > 1) return row_sum_columns<B, R, C / 2>(step, column);
  return column;
}

template <typename B, int R>
void row_sums_of(const RowSumStep<Element<B>>& step) {
  using T = Element<B>;
  for (Size column = row_sum_columns<B, R, kKeysTogether<R>>(step, 0); column < step.columns; ++column)
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
