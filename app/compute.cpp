#include "app/commands.hpp"
#include "app/compute_args.hpp"
#include "app/compute_job.hpp"
#include "app/compute_outputs.hpp"
#include "app/config.hpp"
#include "app/console.hpp"
#include "app/prepare.hpp"
#include "app/summary.hpp"
#include "attn/base/error.hpp"

namespace attn::app {

namespace {

bool needs_value(Result result) { return result == Result::output || result == Result::present_value; }

void check_value_outputs(const ComputeRequest& request, const Prepared& prepared) {
  for (const OutputRequest& output : request.outputs)
    if (needs_value(output.result) && !prepared.value)
      fail(ErrorKind::usage, output.option, " needs a value (-V), without which only weights and scores are known");
}

/// The memory that F(Q) is gathered in before it is merged and written.
Array output_array(const Prepared& prepared, const MemoryBudget& budget) {
  const AttentionShape& shape = prepared.shape;
  // Merging needs the heads of a query side by side, whatever the layout of the query.
  const bool heads_first = shape.rank == 4 && shape.layout == TensorLayout::bhnd && !prepared.output_projection;
  Shape axes{shape.queries, shape.heads * shape.value_size};
  if (shape.rank > 2) axes.insert(axes.begin(), shape.batch);
  if (heads_first) axes = {shape.batch, shape.heads, shape.queries, shape.value_size};
  if (shape.rank == 4 && shape.layout == TensorLayout::bnhd && !prepared.output_projection)
    axes = {shape.batch, shape.queries, shape.heads, shape.value_size};
  return make_array(prepared.sources.dtype, axes, budget, "the output");
}

MutableTensorView output_view(Array& array, const AttentionShape& shape) {
  const TensorLayout layout = array.rank() == 4 ? shape.layout : TensorLayout::bhnd;
  const TensorView view = split_heads(array, shape.heads, layout, "");
  return {array.dtype, array.bytes.data(), view.batch_stride, view.head_stride, view.row_stride};
}

MutableTensorView lse_view(Array& array, const AttentionShape& shape) {
  return {array.dtype, array.bytes.data(), shape.heads * shape.queries, shape.queries, 1};
}

/// Computes what the outputs ask for; weights and scores go to their files row by row, the rest when it is complete.
AttentionReport compute_results(const ComputeRequest& request, const Prepared& prepared, ResultWriter& writer,
                                const RunContext& run) {
  AttentionOutputs outputs;
  outputs.weights = {writer.sinks(Result::weights), request.head_choice.heads, request.head_choice.reduce};
  outputs.scores = writer.sinks(Result::scores);
  outputs.stage = request.stage;
  Array output, lse;
  if (writer.wants(Result::output)) {
    output = output_array(prepared, run.budget);
    outputs.output = output_view(output, prepared.shape);
  }
  if (writer.wants(Result::lse)) {
    lse = make_array(prepared.sources.dtype, rows_shape(prepared.shape), run.budget, "the log-sum-exp");
    outputs.lse = lse_view(lse, prepared.shape);
  }
  AttentionReport report = attend(prepared.inputs, prepared.options, outputs, run);
  if (writer.wants(Result::output)) {
    if (prepared.output_projection) output = project(output, *prepared.output_projection, prepared.options, run);
    writer.write(Result::output, output);
  }
  if (writer.wants(Result::lse)) writer.write(Result::lse, lse);
  writer.write(Result::present_key, *prepared.present_key);
  if (prepared.value) writer.write(Result::present_value, *prepared.present_value);
  writer.write_bundled_inputs();
  return report;
}

void print_notes(const std::vector<std::string>& notes, Console& console) {
  for (const std::string& note : notes) console.note(note);
}

int run_compute(const Words& words, Console& console) {
  const ComputeJob job = load_job(words, console);
  check_value_outputs(job.request, job.prepared);
  print_notes(job.prepared.notes, console);
  if (job.request.outputs.empty()) {
    print_notes(print_summary(job.request, job.prepared, console).notes, console);
    return 0;
  }
  const AttentionReport plan = check_attention(job.prepared.inputs, job.prepared.options);
  ResultWriter writer(job.request, job.prepared, plan, console);
  const AttentionReport report = compute_results(job.request, job.prepared, writer, console.run());
  console.clear_progress();
  if (!writer.commit()) return 0;
  print_notes(report.notes, console);
  print_notes(writer.notes(), console);
  console.detail(concat("kernel ", report.kernel, report.simd.empty() ? "" : ", ", report.simd));
  return 0;
}

/// Opening a pipe waits for its writer, and reading it takes what it has: one that is named twice is refused before.
void refuse_shared_pipes(const ComputeRequest& request, const RunContext& run) {
  InputFiles named({}, run);
  for (const std::string& file : request.named_files()) named.claim(parse_file_reference(file).path);
}

}  // namespace

ComputeJob load_job(const Words& words, Console& console) {
  Words all = words;
  ComputeJob job;
  job.request = resolve_compute(all, console);
  job.files = std::make_unique<InputFiles>(job.request.reading, console.run());
  refuse_shared_pipes(job.request, console.run());
  Document document;
  if (!job.request.document.empty()) {
    document = read_document(job.request.document, *job.files);
    if (apply_options(document, all, console)) job.request = resolve_compute(all, console);
    tell_sources(all, console, words);
  }
  refuse_idle_options(all);
  job.prepared = prepare(job.request, document, *job.files);
  return job;
}

const Command& compute_command() {
  static const Command command = [] {
    Command made;
    made.name = "compute";
    made.summary = "attention of matrices or embeddings: weights, scores, output, pictures";
    made.usage = "compute [DOCUMENT] [options]";
    made.examples = {
        "attn-cli compute cat.json --causal", "attn-cli compute cat.json --causal -w weights.csv --heatmap weights.png",
        "attn-cli compute -Q query.csv -K key.csv -V value.csv -w weights.json -o output.csv",
        "attn-cli compute two-heads.json --head 0 --heatmap head0.svg", "attn-cli compute translation.json --bundle all.npz"};
    made.description =
        "softmax(scale Q K^T) V for every batch item and head, with masks and biases, from a document with named arrays (JSON, "
        "npz, safetensors) or from one file each. Without an output, prints a summary and, for small inputs, the weights.";
    made.max_inputs = 1;
    made.options = attention_option_specs();
    for (OptionSpec& option : compute_output_specs()) made.options.push_back(std::move(option));
    made.run = run_compute;
    return made;
  }();
  return command;
}

}  // namespace attn::app
