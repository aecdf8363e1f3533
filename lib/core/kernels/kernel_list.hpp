#pragma once

#include <span>

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// THE LIST, fastest first, the reference last. "auto" takes the first that supports the job.
std::span<const AttentionKernel> attention_kernels();

}  // namespace v1
}  // namespace attn
