#pragma once

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// The definition of attention, in numbered passes: double sums for both precisions, no tiles, no tricks.
bool reference_supports(const KernelJob& job);
void run_reference(const KernelJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
