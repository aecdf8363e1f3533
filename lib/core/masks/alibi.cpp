#include "core/masks/alibi.hpp"

#include <cmath>

#include "core/masks/makers.hpp"
#include "core/masks/positions.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// The slopes of a power of two of heads: 2^(-8/heads), its square, its cube, ...
std::vector<double> power_of_two_slopes(Index heads) {
  std::vector<double> slopes;
  for (Index k = 1; k <= heads; ++k) slopes.push_back(std::exp2(-8.0 * static_cast<double>(k) / static_cast<double>(heads)));
  return slopes;
}

/// Adds -slope(head)·|p - j|.
class AlibiBias final : public Mask {
 public:
  AlibiBias(QueryPositions positions, const AttentionSizes& sizes)
      : positions_(std::move(positions)), slopes_(alibi_slopes(sizes.heads)), keys_(sizes.keys) {}

  std::string text() const override { return "ALiBi"; }
  bool varies_by_head() const override { return slopes_.size() > 1; }
  bool blocks() const override { return false; }
  Range visible_keys(const QueryBlock&) const override { return {0, keys_}; }
  Coverage coverage(const QueryBlock&, Range) const override { return Coverage::all; }
  void block(Index, Index, Index, Range, std::uint8_t*) const override {}

  bool biases() const override { return true; }
  void add(Index batch, Index head, Index query, Range keys, double* bias) const override {
    add_slope(batch, head, query, keys, bias);
  }
  void add(Index batch, Index head, Index query, Range keys, float* bias) const override {
    add_slope(batch, head, query, keys, bias);
  }

 private:
  template <typename T>
  void add_slope(Index batch, Index head, Index query, Range keys, T* bias) const {
    const double slope = slopes_[static_cast<std::size_t>(head)];
    const double first = static_cast<double>(positions_.of(batch, query) - keys.begin);
    const int count = static_cast<int>(keys.end - keys.begin);
    for (int i = 0; i < count; ++i) bias[i] += static_cast<T>(-slope * std::abs(first - i));
  }

  QueryPositions positions_;
  std::vector<double> slopes_;
  Index keys_;
};

}  // namespace

std::vector<double> alibi_slopes(Index heads) {
  Index lower = 1;
  while (lower * 2 <= heads) lower *= 2;
  std::vector<double> slopes = power_of_two_slopes(lower);
  const std::vector<double> next = power_of_two_slopes(2 * lower);
  for (std::size_t k = 0; static_cast<Index>(slopes.size()) < heads; k += 2) slopes.push_back(next[k]);
  return slopes;
}

void make_alibi(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  if (context.options.alibi)
    masks.push_back(std::make_unique<AlibiBias>(QueryPositions(context.options, context.sizes), context.sizes));
}

}  // namespace v1
}  // namespace attn
