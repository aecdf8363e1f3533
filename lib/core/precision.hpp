#pragma once

#include <cmath>
#include <limits>

namespace attn {
inline namespace v1 {

/// Whether the number is finite after rounding to the precision T of the run.
template <typename T, typename Wide>
bool fits(Wide value) {
  return std::isfinite(static_cast<T>(value));
}

/// Rounds to the precision of the run; a finite number beyond it becomes the last finite one. For results that cannot be
/// beyond it but by rounding, such as a weighted mean.
template <typename T, typename Wide>
T saturate_to(Wide value) {
  constexpr T kMost = std::numeric_limits<T>::max();
  const T rounded = static_cast<T>(value);
  return std::isinf(rounded) && std::isfinite(value) ? std::copysign(kMost, rounded) : rounded;
}

/// scale · Σ_c query[c]·key[c], scaled last. Partial sums that overflow double, though the result need not, are done
/// again in long double.
template <typename T>
double scaled_score(const T* query, const T* key, long size, double scale) {
  double dot = 0;
  for (long c = 0; c < size; ++c) dot += static_cast<double>(query[c]) * static_cast<double>(key[c]);
  if (std::isfinite(dot) && std::isfinite(scale * dot)) return scale * dot;
  long double wide = 0;
  for (long c = 0; c < size; ++c) wide += static_cast<long double>(query[c]) * static_cast<long double>(key[c]);
  return static_cast<double>(scale * wide);
}

}  // namespace v1
}  // namespace attn
