#include "app/explain_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/core/projection.hpp"

namespace attn::app {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One pass that keeps the scores of one stage.
void keep_scores(const Prepared& prepared, const AttentionOptions& options, Stage stage, KeptRows& rows, const RunContext& run) {
  AttentionOutputs outputs;
  outputs.scores = {&rows};
  outputs.stage = stage;
  attend(prepared.inputs, options, outputs, run);
}

Array merged_heads(const Prepared& prepared, const MemoryBudget& budget, MutableTensorView& view) {
  const AttentionShape& shape = prepared.shape;
  Shape axes{shape.queries, shape.heads * shape.value_size};
  if (shape.rank > 2) axes.insert(axes.begin(), shape.batch);
  Array array = make_array(prepared.sources.dtype, axes, budget, "the output");
  const TensorView heads = split_heads(array, shape.heads, TensorLayout::bhnd, "");
  view = {array.dtype, array.bytes.data(), heads.batch_stride, heads.head_stride, heads.row_stride};
  return array;
}

}  // namespace

void KeptRows::append(const RowBlock& rows, std::string_view /*encoded*/) {
  columns_ = rows.columns;
  for (Index r = 0; r < rows.count; ++r) {
    if (only_ && (rows.first + r) % queries_ != *only_) continue;
    for (Index c = 0; c < rows.columns; ++c)
      values_.push_back(rows.dtype == DType::f32 ? static_cast<double>(rows.row<float>(r)[c]) : rows.row<double>(r)[c]);
  }
}

AttentionSteps::RowSoftmax AttentionSteps::softmax(Index row, std::optional<double> sink) const {
  const double* scores = masked.row(row);
  RowSoftmax steps;
  steps.maximum = sink.value_or(-kInfinity);
  for (Index key = 0; key < masked.columns(); ++key) steps.maximum = std::max(steps.maximum, scores[key]);
  for (Index key = 0; key < masked.columns(); ++key) {
    steps.exponentials.push_back(scores[key] == -kInfinity ? 0 : std::exp(scores[key] - steps.maximum));
    steps.sum += steps.exponentials.back();
  }
  if (sink) steps.sum += steps.sink = std::exp(*sink - steps.maximum);
  return steps;
}

AttentionSteps compute_steps(const Prepared& prepared, std::optional<Index> only, const RunContext& run) {
  AttentionSteps steps(prepared.shape.queries, only);
  AttentionOptions products = prepared.options;
  products.scale = 1;
  products.softcap = 0;
  products.allow_nonfinite = true;  // a product may overflow where the scaled score does not
  keep_scores(prepared, products, Stage::raw, steps.products, run);
  keep_scores(prepared, prepared.options, Stage::raw, steps.scaled, run);
  if (prepared.options.softcap != 0) keep_scores(prepared, prepared.options, Stage::capped, steps.capped, run);
  AttentionOutputs outputs;
  outputs.stage = Stage::masked;
  outputs.scores = {&steps.masked};
  outputs.weights.sinks = {&steps.weights};
  if (prepared.value) {
    MutableTensorView view;
    steps.output = merged_heads(prepared, run.budget, view);
    outputs.output = view;
  }
  steps.report = attend(prepared.inputs, prepared.options, outputs, run);
  if (steps.output && prepared.output_projection)
    steps.projected = project(*steps.output, *prepared.output_projection, prepared.options, run);
  return steps;
}

void for_each_head(const ComputeJob& job, const std::function<void(Index batch, Index head)>& visit) {
  const std::vector<Index>& chosen = job.request.head_choice.heads;
  for (Index batch = 0; batch < job.prepared.shape.batch; ++batch)
    if (chosen.empty())
      for (Index head = 0; head < job.prepared.shape.heads; ++head) visit(batch, head);
    else
      for (const Index head : chosen) visit(batch, head);
}

}  // namespace attn::app
