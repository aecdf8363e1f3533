#include "core/kernels/tiled_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
inline namespace v1 {
namespace {

/// 2^(from - to), to >= from; exactly 1 for equal ones, which may both be -inf.
template <typename T>
T shrinkage(T from, T to, T unit) {
  return from == to ? T(1) : std::exp2((from - to) * unit);
}

}  // namespace

template <typename T>
void clear(const RunningSums<T>& sums, Index lanes, Index value_size) {
  std::fill_n(sums.maximum, lanes, -std::numeric_limits<T>::infinity());
  std::fill_n(sums.total, lanes, T(0));
  if (sums.values) std::fill_n(sums.values, value_size * lanes, T(0));
}

template <typename T>
void copy_sums(const RunningSums<T>& from, const RunningSums<T>& to, Index lanes, Index value_size) {
  std::copy_n(from.maximum, lanes, to.maximum);
  std::copy_n(from.total, lanes, to.total);
  if (from.values) std::copy_n(from.values, value_size * lanes, to.values);
}

template <typename T>
void merge(const RunningSums<T>& earlier, const RunningSums<T>& later, Index lanes, Index value_size, T unit) {
  // A stretch is thousands of keys, so that these plain loops cost nothing beside it.
  for (Index lane = 0; lane < lanes; ++lane) {
    const T maximum = std::max(earlier.maximum[lane], later.maximum[lane]);
    const T keep = shrinkage(earlier.maximum[lane], maximum, unit), take = shrinkage(later.maximum[lane], maximum, unit);
    earlier.maximum[lane] = maximum;
    earlier.total[lane] = earlier.total[lane] * keep + later.total[lane] * take;
    // No longer needed themselves.
    later.maximum[lane] = keep;
    later.total[lane] = take;
  }
  if (!earlier.values) return;
  for (Index c = 0; c < value_size; ++c) {
    T* const to = earlier.values + c * lanes;
    const T* const from = later.values + c * lanes;
    for (Index lane = 0; lane < lanes; ++lane) to[lane] = to[lane] * later.maximum[lane] + from[lane] * later.total[lane];
  }
}

template <typename T>
void merge_sink(const RunningSums<T>& sums, T sink, Index lanes, Index value_size, T unit) {
  const T one = std::ldexp(T(1), tile::kPowerShift<T>);
  for (Index lane = 0; lane < lanes; ++lane) {
    const T maximum = std::max(sums.maximum[lane], sink);
    const T keep = shrinkage(sums.maximum[lane], maximum, unit);
    sums.total[lane] = sums.total[lane] * keep + one * shrinkage(sink, maximum, unit);
    sums.maximum[lane] = maximum;
    for (Index c = 0; sums.values && c < value_size; ++c) sums.values[c * lanes + lane] *= keep;
  }
}

template void clear<float>(const RunningSums<float>&, Index, Index);
template void clear<double>(const RunningSums<double>&, Index, Index);
template void copy_sums<float>(const RunningSums<float>&, const RunningSums<float>&, Index, Index);
template void copy_sums<double>(const RunningSums<double>&, const RunningSums<double>&, Index, Index);
template void merge<float>(const RunningSums<float>&, const RunningSums<float>&, Index, Index, float);
template void merge<double>(const RunningSums<double>&, const RunningSums<double>&, Index, Index, double);
template void merge_sink<float>(const RunningSums<float>&, float, Index, Index, float);
template void merge_sink<double>(const RunningSums<double>&, double, Index, Index, double);

}  // namespace v1
}  // namespace attn
