#pragma once

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// Whether the queries are so few that lanes would stay empty.
bool has_few_queries(const KernelJob& job);

/// Output and log-sum-exp of one or a few queries over many keys, as when a text is continued token by token: vectors run
/// along the head, and the queries that share a key/value head read each key and value once.
template <typename T>
void run_tiled_few(const KernelJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
