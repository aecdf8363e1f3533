#pragma once

#include <optional>
#include <string>

#include "attn/base/array.hpp"
#include "attn/base/run.hpp"
#include "attn/core/attention.hpp"

namespace attn {
inline namespace v1 {

/// Which axis of a weight is that of the inputs.
enum class WeightLayout { in_out, out_in };

/// One linear layer: X·W + b (`in_out`, as in the paper) or X·Wᵀ + b (`out_in`, as torch stores it).
/// The weight may be some rows or columns of a packed matrix: out columns [out_begin, out_begin + out).
struct Projection {
  const Array* weight = nullptr;  ///< rank 2, f32 or f64, same as x; null: the identity
  WeightLayout layout = WeightLayout::in_out;
  const Array* bias = nullptr;  ///< rank 1 or null; indexed like the out axis of the weight
  Range out;                    ///< which outputs of a packed weight are meant
  std::string name;             ///< for messages: "W_Q", "q_proj.weight"
};

/// x [.., in] (f32 or f64) -> [.., out], leading axes kept. Throws `mismatch` when the widths differ, naming both.
/// `kernel` and `simd` as in AttentionOptions; the same bytes for every number of threads.
Array project(const Array& x, const Projection& projection, const AttentionOptions& options, const RunContext& run);

}  // namespace v1
}  // namespace attn
