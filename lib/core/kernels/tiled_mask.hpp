#pragma once

#include <span>
#include <vector>

#include "core/kernels/tiled_plan.hpp"

namespace attn {
inline namespace v1 {

/// Neighbouring keys that a panel treats alike.
template <typename T>
struct KeySegment {
  Range keys;
  const T* bias = nullptr;  ///< [keys][lanes], -inf blocks; null when all see all of them and nothing is added
};

/// What the masks say to one panel of queries about one block of keys, as the tile steps want it. One per worker.
template <typename T>
class PanelMask {
 public:
  PanelMask(const TiledPlan<T>& plan, Carver& carver);

  /// Asks the masks about keys that lie within one key block.
  void build(const QueryBlock& queries, Index lanes, Range keys);
  /// In order and without a gap; none when no query sees any of the keys.
  std::span<const KeySegment<T>> segments() const { return {segments_, static_cast<std::size_t>(count_)}; }

 private:
  static constexpr Index kChunk = 32;
  static constexpr Index kMost = kKeyBlock / kChunk + 1;

  void split(const QueryBlock& queries, Range keys, Coverage whole);
  void append(Range keys, Coverage coverage);
  void fill(const QueryBlock& queries, Index lanes, Range keys, T* panel);

  const TiledPlan<T>& plan_;
  const MaskSet& masks_;
  KeySegment<T> segments_[kMost];
  bool plain_[kMost];
  Index count_ = 0;
  T* rows_;                // [lanes][kKeyBlock]
  T* panel_;               // [kKeyBlock][lanes]
  std::uint8_t* allowed_;  // [kKeyBlock]
};

}  // namespace v1
}  // namespace attn
