#include "attn/core/attention.hpp"

#include <algorithm>
#include <cmath>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "core/empty_rows.hpp"
#include "core/heads.hpp"
#include "core/input_checks.hpp"
#include "core/kernels/kernel.hpp"
#include "core/kernels/kernel_list.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// What is known before anything is computed.
struct Plan {
  AttentionSizes sizes;
  MaskSet masks;
  AttentionReport report;
};

void note_empty_rows(const EmptyRowList& empty, const Plan& plan, EmptyRows policy, std::vector<std::string>& notes) {
  const std::string places = empty.text(plan.sizes, plan.masks.varies_by_head());
  if (policy == EmptyRows::error)
    fail(ErrorKind::mismatch, empty.count, empty.count == 1 ? " row has" : " rows have", " no allowed key: ", places);
  notes.push_back(concat(empty.count, empty.count == 1 ? " row has" : " rows have",
                         " no allowed key, so weights and output there are ", policy == EmptyRows::nan ? "NaN" : "0", ": ",
                         places));
}

Plan make_plan(const AttentionInputs& inputs, const AttentionOptions& options) {
  Plan plan;
  check_options(options);
  plan.sizes = check_sizes(inputs);
  check_sinks(inputs, plan.sizes, options.allow_nonfinite);
  std::vector<std::string>& notes = plan.report.notes;
  plan.masks = MaskSet(inputs.masks, plan.sizes, options.allow_nonfinite, notes);
  plan.report.mask_text = plan.masks.text();
  plan.report.scale = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(plan.sizes.head_size));
  if (!inputs.sinks.empty()) notes.push_back("sinks take a share of every row: the weights of a row sum to less than 1");
  const EmptyRowList empty = find_empty_rows(plan.masks, plan.sizes);
  plan.report.empty_rows = empty.count;
  if (empty.count > 0) note_empty_rows(empty, plan, options.empty_rows, notes);
  return plan;
}

std::vector<std::string> names_and_auto() {
  std::vector<std::string> names = kernel_names();
  names.push_back("auto");
  return names;
}

/// The kernel of that name; the first that can do the job for "auto", or with a note when the one that was named cannot.
const AttentionKernel& choose_kernel(const std::string& name, const KernelJob& job, std::vector<std::string>& notes) {
  const std::span<const AttentionKernel> kernels = attention_kernels();
  const auto named = std::find_if(kernels.begin(), kernels.end(), [&](const AttentionKernel& k) { return k.name == name; });
  if (named == kernels.end() && name != "auto") {
    fail_with_hint(ErrorKind::usage, did_you_mean(name, names_and_auto()), "there is no kernel '", printable(name), "'");
  }
  if (named != kernels.end() && named->supports(job)) return *named;
  for (const AttentionKernel& kernel : kernels) {
    if (!kernel.supports(job)) continue;
    if (name != "auto") notes.push_back(concat("the kernel '", name, "' cannot do this job; '", kernel.name, "' did it"));
    return kernel;
  }
  fail(ErrorKind::internal, "no kernel can do this job");
}

KernelJob make_job(const Plan& plan, const AttentionInputs& inputs, const AttentionOptions& options,
                   const AttentionOutputs& outputs) {
  KernelJob job;
  job.sizes = plan.sizes;
  job.query = inputs.query;
  job.key = inputs.key;
  if (inputs.value) job.value = *inputs.value;
  job.scale = plan.report.scale;
  job.softcap = options.softcap;
  job.sinks = inputs.sinks;
  job.masks = &plan.masks;
  job.empty_rows = options.empty_rows;
  job.allow_nonfinite = options.allow_nonfinite;
  job.simd = options.simd;
  job.outputs = &outputs;
  return job;
}

/// Runs the kernel on inputs whose live rows are finite, or throws `mismatch` naming the number that is not.
void run_checked(const AttentionKernel& kernel, KernelJob& job, const AttentionInputs& inputs, const RunContext& run) {
  const auto check = [&] { check_live_inputs(inputs, job.sizes, *job.masks, run); };
  // Without an output nobody multiplies the values, and what is wrong with them is not noticed.
  if (kernel.notices_nonfinite && job.outputs->output)
    job.refuse_nonfinite = check;
  else
    check();
  kernel.run(job, run);
}

}  // namespace

AttentionReport check_attention(const AttentionInputs& inputs, const AttentionOptions& options) {
  return make_plan(inputs, options).report;
}

AttentionReport attend(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                       const RunContext& run) {
  Plan plan = make_plan(inputs, options);
  if (outputs.output && !inputs.value) fail(ErrorKind::usage, "an output is wanted but there is no value");
  chosen_heads(outputs.weights.heads, plan.sizes.heads);
  KernelJob job = make_job(plan, inputs, options, outputs);
  const AttentionKernel& kernel = choose_kernel(options.kernel, job, plan.report.notes);
  if (options.allow_nonfinite)
    kernel.run(job, run);
  else
    run_checked(kernel, job, inputs, run);
  plan.report.kernel = kernel.name;
  if (&kernel != &attention_kernels().back()) plan.report.simd = options.simd.empty() ? best_simd() : options.simd;
  return plan.report;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const AttentionKernel& kernel : attention_kernels()) names.emplace_back(kernel.name);
  return names;
}

}  // namespace v1
}  // namespace attn
