#include "core/heads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {

std::vector<Index> chosen_heads(const std::vector<Index>& wanted, Index heads) {
  for (const Index head : wanted)
    if (head < 0 || head >= heads) fail(ErrorKind::usage, "there is no head ", head, "; the heads are 0 to ", heads - 1);
  if (!wanted.empty()) return wanted;
  std::vector<Index> all(static_cast<std::size_t>(heads));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

void HeadReduction::add(const double* weights) {
  if (count_++ == 0) {
    std::copy(weights, weights + row_.size(), row_.begin());
    return;
  }
  for (std::size_t j = 0; j < row_.size(); ++j) {
    if (reduce_ == Reduce::mean)
      row_[j] += weights[j];
    else if (std::isnan(weights[j]) || (reduce_ == Reduce::max ? weights[j] > row_[j] : weights[j] < row_[j]))
      row_[j] = weights[j];
  }
}

std::span<const double> HeadReduction::finish() {
  if (reduce_ == Reduce::mean)
    for (double& weight : row_) weight /= static_cast<double>(count_);
  count_ = 0;
  return row_;
}

}  // namespace v1
}  // namespace attn
