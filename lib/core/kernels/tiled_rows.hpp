#pragma once

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// Rows of weights, of scores, or both, in order, with output and log-sum-exp where they are wanted. Holds only the rows
/// in flight: for one panel of queries per worker all scores, so that nothing is computed twice.
template <typename T>
void run_tiled_rows(const KernelJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
