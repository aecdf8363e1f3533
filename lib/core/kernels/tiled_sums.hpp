#pragma once

#include "core/kernels/tiled_plan.hpp"

namespace attn {
inline namespace v1 {

/// What a panel has of some keys. Those of neighbouring stretches of keys are merged in order, so that long sums are sums
/// of sums, and that many threads may share the keys of one panel without changing a bit.
template <typename T>
struct RunningSums {
  T* maximum = nullptr;  ///< [lanes], -inf while no key has been seen
  T* total = nullptr;    ///< [lanes], sum of the powers relative to it
  T* values = nullptr;   ///< [v][lanes], powers times values; null when they are not wanted

  static RunningSums carve(Carver& carver, Index lanes, Index value_size) {
    return {carver.take<T>(lanes), carver.take<T>(lanes), value_size > 0 ? carver.take<T>(value_size * lanes) : nullptr};
  }
};

/// No key has been seen.
template <typename T>
void clear(const RunningSums<T>& sums, Index lanes, Index value_size);
template <typename T>
void copy_sums(const RunningSums<T>& from, const RunningSums<T>& to, Index lanes, Index value_size);
/// Adds later keys to earlier ones; `unit` turns differences of maxima into bits.
template <typename T>
void merge(const RunningSums<T>& earlier, const RunningSums<T>& later, Index lanes, Index value_size, T unit);
/// Adds a sink, one more key whose value is 0.
template <typename T>
void merge_sink(const RunningSums<T>& sums, T sink, Index lanes, Index value_size, T unit);

}  // namespace v1
}  // namespace attn
