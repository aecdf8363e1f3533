#pragma once

#include <cstdint>
#include <limits>
#include <xsimd/xsimd.hpp>

#include "core/tile/tile_step.hpp"

// The files of this directory are compiled once per instruction set, so everything in them has internal linkage.
namespace attn::tile {
namespace {

template <typename T, typename Arch>
using Vector = xsimd::batch<T, Arch>;

template <typename B>
using Element = typename B::value_type;

template <typename T>
inline constexpr T kInfinity = __builtin_inff();

template <typename B>
inline constexpr Size kWidth = static_cast<Size>(B::size);

/// Keeps a loaded vector in its register: else the compiler reads it again from memory for each use, and the loads
/// become the bottleneck.
template <typename B>
[[gnu::always_inline]] inline void keep(B& vector) {
#if defined(__x86_64__)
  asm("" : "+x"(vector.data));
#else
  asm("" : "+w"(vector.data));
#endif
}

/// 2^f - 1 = f·(c1 + c2·f + ...) for f in [-1/2, 1/2], least largest relative error (2e-9 and 4e-18).
template <typename T>
struct PowerTerms;
template <>
struct PowerTerms<float> {
  static constexpr float kTerm[] = {0.69314720304068719811f,   0.24022647880561632965f,   0.055503319570876601441f,
                                    0.0096184400047058210762f, 0.0013399101970017290793f, 0.00015353074165178112777f};
  static constexpr int kMantissaBits = 23;
  static constexpr float kRounder = 12582912.0f;  // 1.5 · 2^23: adding it rounds to whole numbers
  static constexpr float kLeastExponent = -126.0f;
  using Bits = std::int32_t;
};
template <>
struct PowerTerms<double> {
  static constexpr double kTerm[] = {0.69314718055994532609,     0.24022650695910132255,   0.055504108664820057504,
                                     0.0096181291075936400116,   0.0013333558146779677154, 0.00015403530457799167151,
                                     0.000015252733489575508561, 1.321543490551472324e-6,  1.0178200481286366676e-7,
                                     7.0738531124286412752e-9,   4.4347201910271975e-10};
  static constexpr int kMantissaBits = 52;
  static constexpr double kRounder = 6755399441055744.0;
  static constexpr double kLeastExponent = -1022.0;
  using Bits = std::int64_t;
};

/// (tanh(y)/y - 1)/y² in y² for y² <= 0.1 (relative error of tanh below 2e-11 and 2e-21).
template <typename T>
struct TanhTerms;
template <>
struct TanhTerms<float> {
  static constexpr float kTerm[] = {-0.33333327789982334724f, 0.13332789952075091423f, -0.053802079178377681854f,
                                    0.019845629098200162005f};
};
template <>
struct TanhTerms<double> {
  static constexpr double kTerm[] = {-0.33333333333333331317,   0.1333333333333252122,     -0.053968253967127150038,
                                     0.021869488459452352037,   -0.0088632325729320981669, 0.0035920590516117612261,
                                     -0.0014548392760618668469, 0.00058131228707884082381, -0.00019613671502831189707};
};

/// term[0] + term[1]·x + ... by Horner's rule.
template <int N, typename B>
[[gnu::always_inline]] inline B polynomial(const Element<B> (&term)[N], const B& x) {
  B sum(term[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) sum = xsimd::fma(sum, x, B(term[i]));
  return sum;
}

/// The constants of powers_of_two, a vector of each.
template <typename B, int kShift>
struct PowerTable {
  using T = Element<B>;
  static constexpr int kTerms = sizeof(PowerTerms<T>::kTerm) / sizeof(T);
  alignas(64) T term[kTerms][B::size];
  alignas(64) T one[B::size];
  alignas(64) T floor[B::size];
  alignas(64) T rounder[B::size];

  constexpr PowerTable() : term(), one(), floor(), rounder() {
    for (Size i = 0; i < kWidth<B>; ++i) {
      for (int t = 0; t < kTerms; ++t) term[t][i] = PowerTerms<T>::kTerm[t];
      one[i] = 1;
      floor[i] = PowerTerms<T>::kLeastExponent - T(kShift);
      rounder[i] = PowerTerms<T>::kRounder + T(kShift);
    }
  }
};
template <typename B, int kShift>
constexpr PowerTable<B, kShift> kPowerTable;

/// x where the mask holds, else 0.
template <typename B>
[[gnu::always_inline]] inline B where(const typename B::batch_bool_type& mask, const B& x) {
  if constexpr (sizeof(mask.data) == sizeof(x.data))
    return B(mask.data) & x;
  else
    return xsimd::select(mask, x, B(Element<B>(0)));
}

/// 2^(x + shift) for x <= 0 or a little above; exactly 0 where the result would be below the normal numbers and for -inf,
/// exactly 2^shift for x = 0. Anything for NaN: rows with one are found by their scores and done again.
/// N vectors step by step, since one alone is a chain of dependent operations.
template <int kShift, int N, typename B>
[[gnu::always_inline]] inline void powers_of_two(B (&x)[N]) {
  using T = Element<B>;
  using Bits = xsimd::batch<typename PowerTerms<T>::Bits, typename B::arch_type>;
  using Table = PowerTable<B, kShift>;
  // What lies below the floor, -inf too, may become anything on the way: it is 0 in the end.
  // Hidden from the compiler, which would otherwise fill the registers with constants and spill what is computed.
  const Table* table = &kPowerTable<B, kShift>;
  asm("" : "+r"(table));
  B rounded[N], fraction[N], power[N];
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    rounded[i] = x[i] + B::load_unaligned(table->rounder);
    fraction[i] = x[i] - (rounded[i] - B::load_unaligned(table->rounder));
  }
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i)
    power[i] = xsimd::fma(B::load_unaligned(table->term[Table::kTerms - 1]), fraction[i],
                          B::load_unaligned(table->term[Table::kTerms - 2]));
#pragma GCC unroll 16
  for (int term = Table::kTerms - 3; term >= -1; --term)
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i)
      power[i] = xsimd::fma(power[i], fraction[i], B::load_unaligned(term < 0 ? table->one : table->term[term < 0 ? 0 : term]));
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    const Bits exponent = xsimd::bitwise_cast<Bits>(rounded[i]) << PowerTerms<T>::kMantissaBits;
    power[i] = xsimd::bitwise_cast<B>(xsimd::bitwise_cast<Bits>(power[i]) + exponent);
    x[i] = where<B>(x[i] >= B::load_unaligned(table->floor), power[i]);
  }
}

template <int kShift, typename B>
[[gnu::always_inline]] inline B power_of_two(const B& x) {
  B one[1] = {x};
  powers_of_two<kShift>(one);
  return one[0];
}

/// tanh to a few units in the last place.
template <typename B>
[[gnu::always_inline]] inline B hyperbolic_tangent(const B& y) {
  using T = Element<B>;
  const B size = xsimd::abs(y);
  const B square = y * y;
  const B small = xsimd::fma(y * square, polynomial(TanhTerms<T>::kTerm, square), y);
  const B falling = power_of_two<0>(size * B(T(-2.8853900817779268147)));  // e^(-2|y|)
  const B large = (B(T(1)) - falling) / (B(T(1)) + falling);
  return xsimd::select(square <= B(T(0.1)), small, xsimd::copysign(large, y));
}

}  // namespace
}  // namespace attn::tile
