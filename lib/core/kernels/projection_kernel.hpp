#pragma once

#include <span>
#include <string_view>

#include "attn/base/array.hpp"
#include "attn/base/run.hpp"

namespace attn {
inline namespace v1 {

/// y = X·W + b for packed rows: x [rows, in] -> y [rows, out]. Checked, so that a kernel can trust it.
struct ProjectionJob {
  DType dtype = DType::f64;  ///< of all four arrays
  const void* x = nullptr;
  Index rows = 0;
  Index in = 0;
  Index out = 0;
  /// Element (i, o) of W is weight[i · in_stride + o · out_stride]; one of the strides is 1.
  const void* weight = nullptr;
  Index in_stride = 0;
  Index out_stride = 0;
  const void* bias = nullptr;  ///< [out], or null
  void* y = nullptr;
  std::string_view simd;  ///< "" for the best

  template <typename T>
  const T* x_row(Index row) const {
    return static_cast<const T*>(x) + row * in;
  }
};

/// One way to compute it; named like the attention kernels. The same bytes for every number of threads.
struct ProjectionKernel {
  std::string_view name;
  bool (*supports)(const ProjectionJob& job);
  void (*run)(const ProjectionJob& job, const RunContext& run);
};

/// THE LIST, fastest first, the reference last.
std::span<const ProjectionKernel> projection_kernels();

/// The definition: plain double sums over the rows of X and the columns of W.
bool reference_projection_supports(const ProjectionJob& job);
void run_reference_projection(const ProjectionJob& job, const RunContext& run);

}  // namespace v1
}  // namespace attn
