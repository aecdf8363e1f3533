#include "app/explain_page.hpp"

#include "app/explain_sources.hpp"
#include "attn/base/error.hpp"
#include "attn/render/explanation.hpp"
#include "version.hpp"

namespace attn::app {

namespace {

/// All rows of one head, one after the other.
std::vector<double> numbers_of(const TensorView& view, Index batch, Index head) {
  std::vector<double> numbers;
  for (Index row = 0; row < view.rows; ++row)
    for (Index column = 0; column < view.columns; ++column)
      numbers.push_back(view.dtype == DType::f32 ? static_cast<double>(view.row<float>(batch, head, row)[column])
                                                 : view.row<double>(batch, head, row)[column]);
  return numbers;
}

std::vector<ExplainedMatrix> matrices_of(const std::vector<ShownArray>& arrays) {
  std::vector<ExplainedMatrix> matrices;
  for (const ShownArray& shown : arrays) {
    const TensorView view = rows_of(*shown.array);
    for (Index batch = 0; batch < view.batch; ++batch) {
      ExplainedMatrix matrix{shown.title, view.rows, view.columns, numbers_of(view, batch, 0), shown.labels};
      if (view.batch > 1) matrix.title += concat(", batch item ", batch);
      matrices.push_back(std::move(matrix));
    }
  }
  return matrices;
}

/// Collects the steps of one head of one batch item.
class HeadCollector {
 public:
  HeadCollector(const ComputeJob& job, const AttentionSteps& steps)
      : prepared_(job.prepared), shape_(job.prepared.shape), steps_(steps) {}

  ExplainedHead collect(Index batch, Index head) const {
    const Index kv_head = head / (shape_.heads / shape_.kv_heads);
    ExplainedHead told;
    told.name = name(batch, head, kv_head);
    told.head_size = shape_.head_size;
    told.query = numbers_of(prepared_.inputs.query, batch, head);
    told.key = numbers_of(prepared_.inputs.key, batch, kv_head);
    if (prepared_.inputs.value) {
      told.value_size = shape_.value_size;
      told.value = numbers_of(*prepared_.inputs.value, batch, kv_head);
      told.output = numbers_of(split_heads(*steps_.output, shape_.heads, TensorLayout::bhnd, ""), batch, head);
    }
    const Index first_row = (batch * shape_.heads + head) * shape_.queries;
    told.products = rows(steps_.products, first_row);
    told.scaled = rows(steps_.scaled, first_row);
    if (prepared_.options.softcap != 0) told.capped = rows(steps_.capped, first_row);
    told.masked = rows(steps_.masked, first_row);
    told.weights = rows(steps_.weights, first_row);
    add_softmax(told, head, first_row);
    return told;
  }

 private:
  std::string name(Index batch, Index head, Index kv_head) const {
    std::string text = shape_.rank > 2 ? concat("batch item ", batch, ", ") : std::string();
    text += concat("head ", head);
    if (shape_.kv_heads != shape_.heads) text += concat(", key/value head ", kv_head);
    return text;
  }

  std::vector<double> rows(const KeptRows& kept, Index first_row) const {
    std::vector<double> numbers;
    for (Index query = 0; query < shape_.queries; ++query) {
      const double* row = kept.row(first_row + query);
      numbers.insert(numbers.end(), row, row + kept.columns());
    }
    return numbers;
  }

  void add_softmax(ExplainedHead& told, Index head, Index first_row) const {
    std::optional<double> sink;
    if (!prepared_.inputs.sinks.empty()) sink = prepared_.inputs.sinks[static_cast<std::size_t>(head)];
    for (Index query = 0; query < shape_.queries; ++query) {
      const AttentionSteps::RowSoftmax softmax = steps_.softmax(first_row + query, sink);
      told.maximum.push_back(softmax.maximum);
      told.exponentials.insert(told.exponentials.end(), softmax.exponentials.begin(), softmax.exponentials.end());
      if (sink) told.sink.push_back(softmax.sink);
      told.sum.push_back(softmax.sum);
    }
  }

  const Prepared& prepared_;
  const AttentionShape& shape_;
  const AttentionSteps& steps_;
};

}  // namespace

void write_explain_page(const ComputeJob& job, const AttentionSteps& steps, const ExplainPage& page, ByteSink& bytes) {
  const Prepared& prepared = job.prepared;
  Explanation told;
  told.title = page.title.empty() ? "Attention, step by step" : page.title;
  told.version = kVersion;
  told.theme = page.theme;
  told.prettify = page.prettify;
  told.labels = prepared.labels;
  told.queries = prepared.shape.queries;
  told.keys = prepared.shape.keys;
  told.scale = steps.report.scale;
  told.softcap = prepared.options.softcap;
  told.mask_text = steps.report.mask_text;
  told.first_query = page.query;
  told.first_key = page.key;
  told.before = matrices_of(arrays_before(prepared));
  told.after = matrices_of(arrays_after(prepared, steps));
  const HeadCollector collector(job, steps);
  for_each_head(job, [&](Index batch, Index head) { told.heads.push_back(collector.collect(batch, head)); });
  write_explanation(told, bytes);
}

}  // namespace attn::app
