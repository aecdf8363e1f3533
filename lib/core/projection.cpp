#include "attn/core/projection.hpp"

#include <cstring>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "core/kernels/projection_kernel.hpp"

namespace attn {
inline namespace v1 {
namespace {

std::string name_of(const Projection& projection) {
  return projection.name.empty() ? "the weight" : printable(projection.name, 80);
}

/// The outputs that are meant: those named, or all of them.
Range wanted_outputs(const Projection& projection, Index all) {
  const Range out = projection.out == Range{} ? Range{0, all} : projection.out;
  if (out.begin < 0 || out.begin > out.end || out.end > all)
    fail(ErrorKind::mismatch, name_of(projection), " has ", all, " outputs; ", out.begin, " to ", out.end, " are wanted of them");
  return out;
}

void check_bias(const Projection& projection, Index outputs, DType dtype) {
  if (!projection.bias) return;
  if (projection.bias->dtype != dtype) fail(ErrorKind::internal, "the bias of ", name_of(projection), " has another precision");
  if (projection.bias->rank() != 1 || projection.bias->shape[0] != outputs)
    fail(ErrorKind::mismatch, "the bias of ", name_of(projection), " has shape ", shape_text(projection.bias->shape), " but ",
         outputs, " numbers are needed");
}

const std::byte* element(const Array& array, Index i) {
  return array.bytes.data() + i * static_cast<Index>(item_size(array.dtype));
}

/// Sizes and places of weight and bias; the rows are filled in by the caller.
ProjectionJob describe_weight(const Projection& projection, DType dtype, Index in) {
  const Array& weight = *projection.weight;
  if (weight.dtype != dtype) fail(ErrorKind::internal, name_of(projection), " has another precision than its input");
  if (weight.rank() != 2)
    fail(ErrorKind::mismatch, name_of(projection), " has shape ", shape_text(weight.shape), "; a matrix is expected");
  const bool in_first = projection.layout == WeightLayout::in_out;
  const Index weight_in = weight.shape[in_first ? 0 : 1], weight_out = weight.shape[in_first ? 1 : 0];
  if (weight_in != in)
    fail(ErrorKind::mismatch, name_of(projection), " takes ", weight_in, " columns (shape ", shape_text(weight.shape),
         " read as ", in_first ? "[in,out]" : "[out,in]", ") but its input has ", in);
  check_bias(projection, weight_out, dtype);
  const Range out = wanted_outputs(projection, weight_out);

  ProjectionJob job;
  job.dtype = dtype;
  job.in = in;
  job.out = out.end - out.begin;
  job.in_stride = in_first ? weight_out : 1;
  job.out_stride = in_first ? 1 : in;
  job.weight = element(weight, out.begin * job.out_stride);
  if (projection.bias) job.bias = element(*projection.bias, out.begin);
  return job;
}

const ProjectionKernel& choose_kernel(const std::string& name, const ProjectionJob& job) {
  for (const ProjectionKernel& kernel : projection_kernels())
    if ((name == kernel.name || name == "auto") && kernel.supports(job)) return kernel;
  return projection_kernels().back();
}

template <typename T>
void add_bias(Array& y, const Array& bias, Index rows) {
  T* row = y.data<T>();
  for (Index i = 0; i < rows; ++i, row += bias.shape[0])
    for (Index o = 0; o < bias.shape[0]; ++o) row[o] += bias.data<T>()[o];
}

/// Without a weight: x itself, and the bias on it.
Array identity(const Array& x, const Projection& projection, Index rows, Index in, const RunContext& run) {
  check_bias(projection, in, x.dtype);
  Array y = make_array(x.dtype, x.shape, run.budget, "a projection");
  if (x.bytes.size() > 0) std::memcpy(y.bytes.data(), x.bytes.data(), static_cast<std::size_t>(x.size()) * item_size(x.dtype));
  if (projection.bias && x.dtype == DType::f32) add_bias<float>(y, *projection.bias, rows);
  if (projection.bias && x.dtype == DType::f64) add_bias<double>(y, *projection.bias, rows);
  return y;
}

}  // namespace

Array project(const Array& x, const Projection& projection, const AttentionOptions& options, const RunContext& run) {
  if (x.dtype != DType::f32 && x.dtype != DType::f64) fail(ErrorKind::internal, "a projection of ", dtype_name(x.dtype));
  if (x.rank() < 1) fail(ErrorKind::mismatch, "the input of ", name_of(projection), " is a single number; rows are expected");
  const Index in = x.shape.back();
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < x.shape.size(); ++axis) rows *= x.shape[axis];
  if (!projection.weight) return identity(x, projection, rows, in, run);

  ProjectionJob job = describe_weight(projection, x.dtype, in);
  Shape shape = x.shape;
  shape.back() = job.out;
  Array y = make_array(x.dtype, shape, run.budget, "a projection");
  job.x = x.bytes.data();
  job.rows = rows;
  job.y = y.bytes.data();
  job.simd = options.simd;
  choose_kernel(options.kernel, job).run(job, run);
  return y;
}

}  // namespace v1
}  // namespace attn
