#pragma once

#include "core/kernels/projection_kernel.hpp"

namespace attn {
inline namespace v1 {

/// X·W + b by the steps of the tiled attention kernel: rows of X are the lanes, columns of W stand where values do.
bool tiled_projection_supports(const ProjectionJob& job);
void run_tiled_projection(const ProjectionJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
