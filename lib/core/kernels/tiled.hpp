#pragma once

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// Attention in tiles that fit the caches, by the vector steps of the best instruction set the CPU has. What the tiles
/// cannot do right is done again, row by row, by the definition.
bool tiled_supports(const KernelJob& job);
void run_tiled(const KernelJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
