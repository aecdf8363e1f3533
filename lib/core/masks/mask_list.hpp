#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// What a mask is built from.
struct MaskContext {
  const MaskOptions& options;
  const AttentionSizes& sizes;
  bool allow_nonfinite;
  std::vector<std::string>& notes;
};

/// One row of THE LIST: builds the masks of one kind that the options ask for (none, one, or one per array).
struct MaskMaker {
  const char* name;
  void (*make)(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
};

/// Every mask there is, in the order in which the report names them.
std::span<const MaskMaker> mask_makers();

}  // namespace v1
}  // namespace attn
