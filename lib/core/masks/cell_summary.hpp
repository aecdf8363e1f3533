#pragma once

#include <cstdint>
#include <vector>

#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// What is allowed in each of some rows of keys, shortly: the first and last allowed key, and for stretches of 64 keys
/// whether none, some or all are allowed. One byte for 64 cells, so that whole tiles are skipped without looking at them.
class CellSummary {
 public:
  CellSummary() = default;
  CellSummary(Index rows, Index keys);

  /// `allowed` has one byte for each key.
  void set_row(Index row, const std::uint8_t* allowed);
  /// The same verdict for every key.
  void set_row(Index row, bool allowed);

  Range span(Index row) const { return spans_[index(row)]; }
  Coverage coverage(Index row, Range keys) const;

 private:
  static constexpr Index kStretch = 64;
  static std::size_t index(Index i) { return static_cast<std::size_t>(i); }

  Index keys_ = 0;
  Index stretches_ = 0;
  std::vector<Range> spans_;
  std::vector<std::uint8_t> solid_;  // whether every key of the span is allowed
  std::vector<Coverage> coverages_;  // [rows, stretches]; empty while all rows are solid
};

}  // namespace v1
}  // namespace attn
