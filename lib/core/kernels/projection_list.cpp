#include <array>

#include "core/kernels/projection_kernel.hpp"
#include "core/kernels/tiled_projection.hpp"

namespace attn {
inline namespace v1 {

std::span<const ProjectionKernel> projection_kernels() {
  static constexpr std::array kKernels{
      ProjectionKernel{"tiled", tiled_projection_supports, run_tiled_projection},
      ProjectionKernel{"reference", reference_projection_supports, run_reference_projection},
  };
  return kKernels;
}

}  // namespace v1
}  // namespace attn
