#include <algorithm>
#include <array>
#include <cmath>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

#include "base/parallel.hpp"
#include "core/kernels/projection_kernel.hpp"

namespace attn {
inline namespace v1 {
namespace {

using Length = std::array<std::size_t, 1>;
template <typename T>
using ConstRow = decltype(xt::adapt(static_cast<const T*>(nullptr), std::size_t{}, xt::no_ownership(), Length{}));
using Sums = xt::xtensor<double, 1>;

/// Packed numbers as a tensor of rank 1.
template <typename T>
ConstRow<T> row_of(const void* first, Index offset, Index count) {
  const std::size_t length = static_cast<std::size_t>(count);
  return xt::adapt(static_cast<const T*>(first) + offset, length, xt::no_ownership(), Length{length});
}

/// Σ_i x[i]·W[i,o] in long double: partial sums may overflow double though the sum does not.
template <typename T>
double wide_sum(const ProjectionJob& job, const ConstRow<T>& x, Index o) {
  const T* const weight = static_cast<const T*>(job.weight);
  long double sum = 0;
  for (Index i = 0; i < job.in; ++i)
    sum += static_cast<long double>(x(i)) * static_cast<long double>(weight[i * job.in_stride + o * job.out_stride]);
  return static_cast<double>(sum);
}

/// sums[o] = Σ_i x[i]·W[i,o], added in the order of i along whichever axis of W lies packed.
template <typename T>
void multiply(const ProjectionJob& job, const ConstRow<T>& x, Sums& sums) {
  sums.fill(0.0);
  if (job.out_stride == 1) {
    for (Index i = 0; i < job.in; ++i)
      xt::noalias(sums) += static_cast<double>(x(i)) * xt::cast<double>(row_of<T>(job.weight, i * job.in_stride, job.out));
    return;
  }
  for (Index o = 0; o < job.out; ++o) {
    const ConstRow<T> weight = row_of<T>(job.weight, o * job.out_stride, job.in);
    for (Index i = 0; i < job.in; ++i) sums(o) += static_cast<double>(x(i)) * static_cast<double>(weight(i));
  }
}

/// One row of Y.
template <typename T>
void project_row(const ProjectionJob& job, Index row, Sums& sums) {
  const ConstRow<T> x = row_of<T>(job.x, row * job.in, job.in);
  multiply<T>(job, x, sums);
  T* const y = static_cast<T*>(job.y) + row * job.out;
  for (Index o = 0; o < job.out; ++o) {
    const double sum = std::isfinite(sums(o)) ? sums(o) : wide_sum<T>(job, x, o);
    const double bias = job.bias ? static_cast<double>(static_cast<const T*>(job.bias)[o]) : 0;
    y[o] = static_cast<T>(sum + bias);
  }
}

template <typename T>
void project_rows(const ProjectionJob& job, const RunContext& run) {
  const Length length{static_cast<std::size_t>(job.out)};
  std::vector<Sums> sums(static_cast<std::size_t>(std::max(run.threads, 1)), Sums(length));
  parallel_for(job.rows, run.threads,
               [&](Index row, int worker) { project_row<T>(job, row, sums[static_cast<std::size_t>(worker)]); });
}

}  // namespace

bool reference_projection_supports(const ProjectionJob&) { return true; }

void run_reference_projection(const ProjectionJob& job, const RunContext& run) {
  if (job.dtype == DType::f32)
    project_rows<float>(job, run);
  else
    project_rows<double>(job, run);
}

}  // namespace v1
}  // namespace attn
