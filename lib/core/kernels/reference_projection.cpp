#include <algorithm>
#include <array>
#include <cmath>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

#include "base/parallel.hpp"
#include "core/kernels/projection_kernel.hpp"
#include "core/precision.hpp"

namespace attn {
namespace {

using Lengths = std::array<std::size_t, 2>;
template <typename T>
using Matrix = decltype(xt::adapt(static_cast<const T*>(nullptr), std::size_t{}, xt::no_ownership(), Lengths{}, Lengths{}));

/// W as a matrix [in, out], whichever of its axes lies packed in memory.
template <typename T>
Matrix<T> weight_matrix(const ProjectionJob& job) {
  const Lengths shape{static_cast<std::size_t>(job.in), static_cast<std::size_t>(job.out)};
  const Lengths strides{static_cast<std::size_t>(job.in_stride), static_cast<std::size_t>(job.out_stride)};
  const std::size_t reach = job.in == 0 || job.out == 0 ? 0 : (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1] + 1;
  return xt::adapt(static_cast<const T*>(job.weight), reach, xt::no_ownership(), shape, strides);
}

/// Σ_i x[i]·W[i,o] in long double: partial sums may overflow double though the sum does not.
template <typename T>
double wide_sum(const T* x, const Matrix<T>& weight, std::size_t o) {
  long double sum = 0;
  for (std::size_t i = 0; i < weight.shape(0); ++i)
    sum += static_cast<long double>(x[i]) * static_cast<long double>(weight(i, o));
  return static_cast<double>(sum);
}

/// One row of Y: sums [out] of double, in the order of the inputs.
template <typename T>
void project_row(const ProjectionJob& job, const Matrix<T>& weight, Index row, std::vector<double>& sums) {
  const T* const x = job.x_row<T>(row);
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::size_t i = 0; i < weight.shape(0); ++i)
    for (std::size_t o = 0; o < sums.size(); ++o) sums[o] += static_cast<double>(x[i]) * static_cast<double>(weight(i, o));
  T* const y = static_cast<T*>(job.y) + row * job.out;
  for (std::size_t o = 0; o < sums.size(); ++o) {
    const double sum = std::isfinite(sums[o]) ? sums[o] : wide_sum(x, weight, o);
    const double bias = job.bias ? static_cast<double>(static_cast<const T*>(job.bias)[o]) : 0;
    y[o] = static_cast<T>(sum + bias);
  }
}

template <typename T>
void project_rows(const ProjectionJob& job, const RunContext& run) {
  const Matrix<T> weight = weight_matrix<T>(job);
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(std::max(run.threads, 1)),
                                        std::vector<double>(static_cast<std::size_t>(job.out)));
  parallel_for(job.rows, run.threads,
               [&](Index row, int worker) { project_row<T>(job, weight, row, sums[static_cast<std::size_t>(worker)]); });
}

}  // namespace

bool reference_projection_supports(const ProjectionJob&) { return true; }

void run_reference_projection(const ProjectionJob& job, const RunContext& run) {
  if (job.dtype == DType::f32)
    project_rows<float>(job, run);
  else
    project_rows<double>(job, run);
}

}  // namespace attn
