#pragma once

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// Output and log-sum-exp of all rows without ever holding a row of scores: key block by key block, with running maxima.
template <typename T>
void run_tiled_online(const KernelJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
