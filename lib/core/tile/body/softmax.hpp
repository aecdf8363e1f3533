#pragma once

#include "core/tile/body/vector.hpp"

namespace attn::tile {
namespace {

inline constexpr int kTogether = 4;

/// N vectors of powers in place, `stride` apart; returns their sum. It is always added up as for kTogether vectors, so that
/// keys nobody sees at the end of a range do not change it.
template <typename B, bool kUnit, int N>
[[gnu::always_inline]] inline B raise(Element<B>* score, Size stride, const B& base, const B& unit) {
  B x[N];
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    const B loaded = B::load_unaligned(score + i * stride);
    x[i] = kUnit ? loaded - base : (loaded - base) * unit;
  }
  powers_of_two<kPowerShift<Element<B>>>(x);
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) x[i].store_unaligned(score + i * stride);
  if constexpr (N == 4) return (x[0] + x[1]) + (x[2] + x[3]);
  if constexpr (N == 3) return (x[0] + x[1]) + x[2];
  if constexpr (N == 2) return x[0] + x[1];
  return x[0];
}

/// Moves the running maximum and returns what is subtracted from the scores: 0 while no key has been seen, since
/// -inf - -inf is not a number.
template <typename B>
[[gnu::always_inline]] inline B move_maximum(const PowerStep<Element<B>>& step, Size lane) {
  using T = Element<B>;
  const B before = B::load_unaligned(step.maximum + lane);
  const B after = xsimd::max(before, B::load_unaligned(step.highest + lane));
  const B base = xsimd::select(after == B(-kInfinity<T>), B(T(0)), after);
  power_of_two<0>((before - base) * B(step.unit)).store_unaligned(step.rescale + lane);
  after.store_unaligned(step.maximum + lane);
  return base;
}

/// One vector of every key, `stride` apart; returns the sum of the powers.
template <typename B, bool kUnit>
[[gnu::noinline]] B raise_lanes(Element<B>* score, Size stride, Size key_count, const B& base, const B& unit) {
  B total(Element<B>(0));
  for (; key_count >= kTogether; key_count -= kTogether, score += kTogether * stride)
    total += raise<B, kUnit, kTogether>(score, stride, base, unit);
  if (key_count == 3) total += raise<B, kUnit, 3>(score, stride, base, unit);
  if (key_count == 2) total += raise<B, kUnit, 2>(score, stride, base, unit);
  if (key_count == 1) total += raise<B, kUnit, 1>(score, stride, base, unit);
  return total;
}

template <typename B>
void powers(const PowerStep<Element<B>>& step) {
  const bool in_bits = step.unit == Element<B>(1);
  const B unit(step.unit);
  for (Size lane = 0; lane < step.lanes; lane += kWidth<B>) {
    const B base = move_maximum<B>(step, lane);
    const B added = in_bits ? raise_lanes<B, true>(step.scores + lane, step.lanes, step.key_count, base, unit)
                            : raise_lanes<B, false>(step.scores + lane, step.lanes, step.key_count, base, unit);
    Element<B>* total = step.total + lane;
    const B rescale = B::load_unaligned(step.rescale + lane);
    xsimd::fma(B::load_unaligned(total), rescale, added).store_unaligned(total);
  }
}

/// Cap, bias and block of one vector of scores; keeps `highest` and `check`.
template <typename B>
[[gnu::always_inline]] inline B settled(const B& raw, bool cap, const B& height, const B& shrink, const Element<B>* bias,
                                        B& highest, B& check) {
  using T = Element<B>;
  B score = cap ? hyperbolic_tangent(raw * shrink) * height : raw;
  B seen = score + raw;
  if (bias != nullptr) {
    const B added = B::load_unaligned(bias);
    const auto blocked = added == B(-kInfinity<T>);
    score = xsimd::select(blocked, B(-kInfinity<T>), score + added);
    seen = xsimd::select(blocked, B(T(0)), score + raw);
  }
  highest = xsimd::max(highest, score);
  check += seen - seen;
  return score;
}

template <typename B>
void settle(const SettleStep<Element<B>>& step) {
  using T = Element<B>;
  const B height(step.height), shrink(step.shrink);
  for (Size lane = 0; lane < step.lanes; lane += kWidth<B>) {
    B highest = B::load_unaligned(step.highest + lane);
    B check = B::load_unaligned(step.check + lane);
    for (Size key = 0; key < step.key_count; ++key) {
      T* score = step.scores + key * step.lanes + lane;
      const T* bias = step.bias != nullptr ? step.bias + key * step.lanes + lane : nullptr;
      settled(B::load_unaligned(score), step.height != 0, height, shrink, bias, highest, check).store_unaligned(score);
    }
    highest.store_unaligned(step.highest + lane);
    check.store_unaligned(step.check + lane);
  }
}

}  // namespace
}  // namespace attn::tile
