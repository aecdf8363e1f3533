#pragma once

#include <string>
#include <vector>

#include "attn/core/attention.hpp"
#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// Query rows of one batch item and head in which the masks allow no key.
struct EmptyRowsOfHead {
  Index batch = 0;
  Index head = 0;              ///< 0 stands for all heads when the masks do not tell them apart
  std::vector<Range> queries;  ///< sorted, disjoint
};

/// All rows without an allowed key, in order.
struct EmptyRowList {
  std::vector<EmptyRowsOfHead> heads;
  Index count = 0;  ///< over all batch items and heads

  /// "query rows 0-2, 5; batch 1, head 0: query row 3", cut when it grows long.
  std::string text(const AttentionSizes& sizes, bool varies_by_head) const;
};

EmptyRowList find_empty_rows(const MaskSet& masks, const AttentionSizes& sizes);

}  // namespace v1
}  // namespace attn
