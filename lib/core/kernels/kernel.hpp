#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "attn/core/attention.hpp"
#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// Everything a kernel needs; checked, so that a kernel can trust it. Shapes as in AttentionInputs.
struct KernelJob {
  AttentionSizes sizes;
  TensorView query, key, value;  ///< value.data is null without a value
  double scale = 1;
  double softcap = 0;
  std::span<const double> sinks;  ///< empty or H
  const MaskSet* masks = nullptr;
  EmptyRows empty_rows = EmptyRows::zero;
  bool allow_nonfinite = false;
  std::string_view simd;  ///< "" for the best
  const AttentionOutputs* outputs = nullptr;
  /// Throws if a live input is not finite; empty when such inputs are allowed or have been looked for already.
  std::function<void()> refuse_nonfinite;

  DType dtype() const { return query.dtype; }
  /// Query head h reads key/value head h / (H/G).
  Index kv_head(Index head) const { return head / (sizes.heads / sizes.kv_heads); }
};

/// One way to compute attention. A kernel fills the output, lse and hands rows to the sinks in order; blocked keys and
/// values are never read into a sum; a scaled score beyond the precision ends the run (refuse_score), naming query and
/// key. With allow_nonfinite too: only what comes of a NaN or infinity in the two rows is carried through.
struct AttentionKernel {
  std::string_view name;
  /// Whether it can do this job; the reference can do any.
  bool (*supports)(const KernelJob& job);
  void (*run)(const KernelJob& job, const RunContext& run);
  /// Whether it notices by itself when a live input is not finite, and then calls `refuse_nonfinite`. Inputs need not be
  /// read once more before: with a few queries that costs as much as the attention itself.
  bool notices_nonfinite = false;
};

}  // namespace v1
}  // namespace attn
