#include <array>

#include "core/kernels/projection_kernel.hpp"

namespace attn {

std::span<const ProjectionKernel> projection_kernels() {
  static constexpr std::array kKernels{
      ProjectionKernel{"reference", reference_projection_supports, run_reference_projection},
  };
  return kKernels;
}

}  // namespace attn
