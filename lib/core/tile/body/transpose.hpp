#pragma once

#include "core/tile/body/vector.hpp"

namespace attn::tile {
namespace {

/// Transposes a square of vectors by perfect shuffles: log2(width) rounds of zipping its two halves.
template <typename B>
[[gnu::always_inline]] inline void transpose(B (&rows)[B::size]) {
  constexpr int kRows = static_cast<int>(B::size);
#pragma GCC unroll 4
  for (int round = 1; round < kRows; round *= 2) {
    B zipped[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows / 2; ++i) {
      zipped[2 * i] = xsimd::zip_lo(rows[i], rows[i + kRows / 2]);
      zipped[2 * i + 1] = xsimd::zip_hi(rows[i], rows[i + kRows / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) rows[i] = zipped[i];
  }
}

#ifdef __AVX2__
/// Shuffles inside 128-bit halves are half the work of whole zips, whose lanes cross.
[[gnu::always_inline]] inline void transpose(xsimd::batch<float, xsimd::fma3<xsimd::avx2>> (&rows)[8]) {
  __m256 pair[8], quad[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pair[2 * i] = _mm256_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
    pair[2 * i + 1] = _mm256_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    const __m256* four = pair + 4 * half;
    quad[4 * half] = _mm256_shuffle_ps(four[0], four[2], 0x44);
    quad[4 * half + 1] = _mm256_shuffle_ps(four[0], four[2], 0xee);
    quad[4 * half + 2] = _mm256_shuffle_ps(four[1], four[3], 0x44);
    quad[4 * half + 3] = _mm256_shuffle_ps(four[1], four[3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x31);
  }
}
#endif

/// The square at (row, column) of `count` rows -> W panel rows; missing rows are 0.
template <typename B>
[[gnu::always_inline]] inline void pack_square(const PackStep<Element<B>>& step, Size row, Size column) {
  constexpr Size kSquare = kWidth<B>;
  const B factor(step.factor);
  B square[B::size];
  for (Size i = 0; i < kSquare; ++i)
    square[i] =
        row + i < step.count ? B::load_unaligned(step.rows + (row + i) * step.stride + column) * factor : B(Element<B>(0));
  transpose(square);
  for (Size i = 0; i < kSquare; ++i) square[i].store_unaligned(step.panel + (column + i) * step.lanes + row);
}

template <typename B>
void pack(const PackStep<Element<B>>& step) {
  const Size whole = step.columns - step.columns % kWidth<B>;
  for (Size row = 0; row < step.lanes; row += kWidth<B>) {
    for (Size column = 0; column < whole; column += kWidth<B>) pack_square<B>(step, row, column);
    for (Size column = whole; column < step.columns; ++column)
      for (Size lane = row; lane < row + kWidth<B>; ++lane)
        step.panel[column * step.lanes + lane] = lane < step.count ? step.rows[lane * step.stride + column] * step.factor : 0;
  }
}

template <typename B>
[[gnu::always_inline]] inline void unpack_square(const UnpackStep<Element<B>>& step, Size row, Size column, const B& factor) {
  constexpr Size kSquare = kWidth<B>;
  B square[B::size];
  for (Size i = 0; i < kSquare; ++i) square[i] = B::load_unaligned(step.panel + (column + i) * step.lanes + row) * factor;
  transpose(square);
  const Size count = step.count - row < kSquare ? step.count - row : kSquare;
  for (Size i = 0; i < count; ++i) square[i].store_unaligned(step.rows + (row + i) * step.stride + column);
}

template <typename B>
void unpack(const UnpackStep<Element<B>>& step) {
  const Size whole = step.columns - step.columns % kWidth<B>;
  for (Size row = 0; row < step.count; row += kWidth<B>) {
    const B factor = B::load_unaligned(step.factor + row);
    for (Size column = 0; column < whole; column += kWidth<B>) unpack_square<B>(step, row, column, factor);
    for (Size column = whole; column < step.columns; ++column)
      for (Size lane = row; lane < row + kWidth<B> && lane < step.count; ++lane)
        step.rows[lane * step.stride + column] = step.panel[column * step.lanes + lane] * step.factor[lane];
  }
}

}  // namespace
}  // namespace attn::tile
