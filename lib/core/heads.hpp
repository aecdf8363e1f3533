#pragma once

#include <span>
#include <vector>

#include "attn/core/attention.hpp"

namespace attn {
inline namespace v1 {

/// The heads whose weights are wanted, in the order in which they are written; all when none is named. Throws `usage`
/// for a head that is not there.
std::vector<Index> chosen_heads(const std::vector<Index>& wanted, Index heads);

/// Folds the weights of several heads into one row: their mean, maximum or minimum, key by key. NaN in any head is NaN.
class HeadReduction {
 public:
  HeadReduction(Reduce reduce, Index keys) : reduce_(reduce), row_(static_cast<std::size_t>(keys)) {}

  /// The first head replaces the row, the others are folded in. Heads must come in order, or the mean changes its bits.
  void add(const double* weights);
  /// The finished row; the next add() starts another.
  std::span<const double> finish();

 private:
  Reduce reduce_;
  std::vector<double> row_;
  Index count_ = 0;
};

}  // namespace v1
}  // namespace attn
