#include "core/kernels/tiled.hpp"

#include "core/kernels/tiled_few.hpp"
#include "core/kernels/tiled_online.hpp"
#include "core/kernels/tiled_rows.hpp"

namespace attn {
inline namespace v1 {
namespace {

template <typename T>
void run_in(const KernelJob& job, const RunContext& run) {
  const AttentionOutputs& wanted = *job.outputs;
  if (!wanted.weights.sinks.empty() || !wanted.scores.empty())
    run_tiled_rows<T>(job, run);
  else if ((wanted.output || wanted.lse) && has_few_queries(job))
    run_tiled_few<T>(job, run);
  else if (wanted.output || wanted.lse)
    run_tiled_online<T>(job, run);
}

}  // namespace

bool tiled_supports(const KernelJob&) { return true; }

void run_tiled(const KernelJob& job, const RunContext& run) {
  if (job.sizes.queries == 0) return;
  if (job.dtype() == DType::f32)
    run_in<float>(job, run);
  else
    run_in<double>(job, run);
}

}  // namespace v1
}  // namespace attn
