#pragma once

#include "attn/core/attention.hpp"
#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// Sizes of a run. Throws `mismatch`, naming both numbers, when the inputs do not fit together.
AttentionSizes check_sizes(const AttentionInputs& inputs);
/// Throws `usage` for options that are no numbers to compute with.
void check_options(const AttentionOptions& options);
/// Throws `mismatch` unless there are no sinks or one finite number for each head.
void check_sinks(const AttentionInputs& inputs, const AttentionSizes& sizes, bool allow_nonfinite);
/// Throws `mismatch` for the first NaN or infinity in a live row. A query row is live unless the masks allow it no key;
/// a row of key or value is live if some query of a head that reads it may see it.
void check_live_inputs(const AttentionInputs& inputs, const AttentionSizes& sizes, const MaskSet& masks, const RunContext& run);

}  // namespace v1
}  // namespace attn
