#pragma once

#include "core/tile/body/vector.hpp"

namespace attn::tile {
namespace {

/// Transposes a square of vectors: 128-bit ones by zipping its two halves log2(width) times; the zips of wider ones stay
/// inside 128-bit lanes, so those go through memory unless there is a faster way below.
template <typename B>
[[gnu::always_inline]] inline void transpose(B (&rows)[B::size]) {
  constexpr int kRows = static_cast<int>(B::size);
  if constexpr (sizeof(B) == 16) {
#pragma GCC unroll 2
    for (int round = 1; round < kRows; round *= 2) {
      B zipped[kRows];
#pragma GCC unroll 2
      for (int i = 0; i < kRows / 2; ++i) {
        zipped[2 * i] = xsimd::zip_lo(rows[i], rows[i + kRows / 2]);
        zipped[2 * i + 1] = xsimd::zip_hi(rows[i], rows[i + kRows / 2]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) rows[i] = zipped[i];
    }
  } else {
    Element<B> across[kRows][kRows], down[kRows][kRows];
    for (int i = 0; i < kRows; ++i) rows[i].store_unaligned(across[i]);
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kRows; ++j) down[j][i] = across[i][j];
    for (int i = 0; i < kRows; ++i) rows[i] = B::load_unaligned(down[i]);
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

[[gnu::always_inline]] inline void transpose(xsimd::batch<double, xsimd::fma3<xsimd::avx2>> (&rows)[4]) {
  const __m256d even_low = _mm256_unpacklo_pd(rows[0], rows[1]), even_high = _mm256_unpacklo_pd(rows[2], rows[3]);
  const __m256d odd_low = _mm256_unpackhi_pd(rows[0], rows[1]), odd_high = _mm256_unpackhi_pd(rows[2], rows[3]);
  rows[0] = _mm256_permute2f128_pd(even_low, even_high, 0x20);
  rows[1] = _mm256_permute2f128_pd(odd_low, odd_high, 0x20);
  rows[2] = _mm256_permute2f128_pd(even_low, even_high, 0x31);
  rows[3] = _mm256_permute2f128_pd(odd_low, odd_high, 0x31);
}
#endif

/// The square at (row, column) of `count` rows -> W panel rows; missing rows are 0. Raises `peak`.
template <typename B>
[[gnu::always_inline]] inline void pack_square(const PackStep<Element<B>>& step, Size row, Size column, B& peak) {
  constexpr Size kSquare = kWidth<B>;
  const B factor(step.factor);
  B square[B::size];
  for (Size i = 0; i < kSquare; ++i)
    square[i] = row + i < step.count ? B::load_unaligned(step.rows + (row + i) * step.stride + column) : B(Element<B>(0));
  transpose(square);
  for (Size i = 0; i < kSquare; ++i) {
    peak = xsimd::max(peak, xsimd::abs(square[i]));
    (square[i] * factor).store_unaligned(step.panel + (column + i) * step.lanes + row);
  }
}

template <typename B>
void pack(const PackStep<Element<B>>& step) {
  using T = Element<B>;
  const Size whole = step.columns - step.columns % kWidth<B>;
  for (Size row = 0; row < step.lanes; row += kWidth<B>) {
    B peak(T(0));
    for (Size column = 0; column < whole; column += kWidth<B>) pack_square<B>(step, row, column, peak);
    for (Size column = whole; column < step.columns; ++column) {
      T lanes[B::size];
      for (Size i = 0; i < kWidth<B>; ++i) lanes[i] = row + i < step.count ? step.rows[(row + i) * step.stride + column] : 0;
      const B one = B::load_unaligned(lanes);
      peak = xsimd::max(peak, xsimd::abs(one));
      (one * B(step.factor)).store_unaligned(step.panel + column * step.lanes + row);
    }
    if (step.peak != nullptr) peak.store_unaligned(step.peak + row);
  }
}

template <typename B>
[[gnu::always_inline]] inline void unpack_square(const UnpackStep<Element<B>>& step, Size row, Size column, const B& factor,
                                                 B& seen) {
  constexpr Size kSquare = kWidth<B>;
  B square[B::size];
  for (Size i = 0; i < kSquare; ++i) {
    square[i] = B::load_unaligned(step.panel + (column + i) * step.lanes + row) * factor;
    seen += square[i] - square[i];
  }
  transpose(square);
  const Size count = step.count - row < kSquare ? step.count - row : kSquare;
  for (Size i = 0; i < count; ++i) square[i].store_unaligned(step.rows + (row + i) * step.stride + column);
}

template <typename B>
void unpack(const UnpackStep<Element<B>>& step) {
  using T = Element<B>;
  const Size whole = step.columns - step.columns % kWidth<B>;
  for (Size row = 0; row < step.count; row += kWidth<B>) {
    const B factor = B::load_unaligned(step.factor + row);
    B seen(T(0));
    for (Size column = 0; column < whole; column += kWidth<B>) unpack_square<B>(step, row, column, factor, seen);
    for (Size column = whole; column < step.columns; ++column) {
      T lanes[B::size];
      const B one = B::load_unaligned(step.panel + column * step.lanes + row) * factor;
      seen += one - one;
      one.store_unaligned(lanes);
      for (Size i = 0; i < kWidth<B> && row + i < step.count; ++i) step.rows[(row + i) * step.stride + column] = lanes[i];
    }
    if (step.check != nullptr) (B::load_unaligned(step.check + row) + seen).store_unaligned(step.check + row);
  }
}

}  // namespace
}  // namespace attn::tile
