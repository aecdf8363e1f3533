#pragma once

#include <string>
#include <vector>

#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// Where the queries stand among the keys: query i of batch item b is at position p = i + offset(b).
/// Causal, window and ALiBi all count from p.
class QueryPositions {
 public:
  /// Throws `usage` for an alignment together with an offset, or an offset out of range.
  QueryPositions(const MaskOptions& options, const AttentionSizes& sizes);

  Index of(Index batch, Index query) const { return query + (offsets_.size() == 1 ? offsets_[0] : offsets_[index(batch)]); }
  /// "top-left", "bottom-right" or "offset 3".
  const std::string& text() const { return text_; }

 private:
  static std::size_t index(Index batch) { return static_cast<std::size_t>(batch); }

  std::vector<Index> offsets_;  // one for all, or one per batch item
  std::string text_;
};

/// The largest offset either way: no row is longer.
inline constexpr Index kFarthestOffset = Index{1} << 53;
/// Where a window side ends that was given wider: it reaches over every row from every offset, and sums stay far from
/// overflow.
inline constexpr Index kWidestWindow = Index{1} << 60;

/// The part of `range` that lies in [0, end).
inline Range clip(Range range, Index end) {
  const Index begin = range.begin < 0 ? 0 : range.begin;
  const Index last = range.end > end ? end : range.end;
  return begin < last ? Range{begin, last} : Range{0, 0};
}

}  // namespace v1
}  // namespace attn
