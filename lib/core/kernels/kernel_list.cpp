#include "core/kernels/kernel_list.hpp"

#include <array>

#include "core/kernels/reference.hpp"
#include "core/kernels/tiled.hpp"

namespace attn {
inline namespace v1 {

std::span<const AttentionKernel> attention_kernels() {
  static constexpr std::array kKernels{
      AttentionKernel{"tiled", tiled_supports, run_tiled, true},
      AttentionKernel{"reference", reference_supports, run_reference, false},
  };
  return kKernels;
}

}  // namespace v1
}  // namespace attn
