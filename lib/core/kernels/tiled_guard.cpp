#include "core/kernels/tiled_guard.hpp"

#include <algorithm>
#include <cmath>

namespace attn {
inline namespace v1 {

template <typename T>
bool ValueGuard<T>::is_bad(const T* row) const {
  return !std::all_of(row, row + plan_.job.sizes.value_size, [](T number) { return std::isfinite(number); });
}

template <typename T>
bool ValueGuard<T>::finds_bad_values(Index batch, Index head, Range keys) const {
  for (Index key = keys.begin; key < keys.end; ++key)
    if (is_bad(plan_.job.value.template row<T>(batch, plan_.job.kv_head(head), key))) return true;
  return false;
}

template <typename T>
const T* ValueGuard<T>::copy(Index batch, Index head, Range keys) {
  const Index v = plan_.job.sizes.value_size;
  const std::size_t bytes = static_cast<std::size_t>(kKeyBlock * v) * sizeof(T);
  if (memory_.size() < bytes) memory_ = plan_.run.budget.allocate(bytes, "a copy of some values");
  T* to = reinterpret_cast<T*>(memory_.data());
  bad_keys_.clear();
  for (Index key = keys.begin; key < keys.end; ++key, to += v) {
    const T* row = plan_.job.value.template row<T>(batch, plan_.job.kv_head(head), key);
    const bool bad = is_bad(row);
    if (bad) bad_keys_.push_back(key);
    for (Index c = 0; c < v; ++c) to[c] = bad ? T(0) : row[c];
  }
  return reinterpret_cast<const T*>(memory_.data());
}

template class ValueGuard<float>;
template class ValueGuard<double>;

}  // namespace v1
}  // namespace attn
