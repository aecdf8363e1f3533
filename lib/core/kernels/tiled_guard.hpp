#pragma once

#include "core/kernels/tiled_plan.hpp"

namespace attn {
inline namespace v1 {

/// Stands between values that are not finite and queries that may not see them: 0 · NaN is NaN, so a value that only some
/// queries of a tile may see must not be multiplied at all. One per worker; costs nothing until it is needed.
template <typename T>
class ValueGuard {
 public:
  explicit ValueGuard(const TiledPlan<T>& plan) : plan_(plan) {}

  /// Whether any value of the keys is not finite.
  bool finds_bad_values(Index batch, Index head, Range keys) const;
  /// The values of a block of keys with 0 in place of every row that is not finite; bad_keys() then names those.
  const T* copy(Index batch, Index head, Range keys);
  const std::vector<Index>& bad_keys() const { return bad_keys_; }

 private:
  bool is_bad(const T* row) const;

  const TiledPlan<T>& plan_;
  Buffer memory_;  // [kKeyBlock][v]
  std::vector<Index> bad_keys_;
};

}  // namespace v1
}  // namespace attn
