#include "app/explain_tables.hpp"

#include <cmath>
#include <functional>

#include "app/explain_sources.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {

namespace {

constexpr int kDigits = 6;

std::string shown(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return std::isnan(value) ? "nan" : format_rounded(value, kDigits);
}

double element(const TensorView& view, Index batch, Index head, Index row, Index column) {
  if (view.dtype == DType::f32) return static_cast<double>(view.row<float>(batch, head, row)[column]);
  return view.row<double>(batch, head, row)[column];
}

std::vector<std::string> labels_or_numbers(const std::vector<std::string>& labels, Index count) {
  if (static_cast<Index>(labels.size()) == count) return labels;
  std::vector<std::string> numbers;
  for (Index i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

using Cell = std::function<double(Index row, Index column)>;

/// The steps of one batch item and head.
class HeadPrinter {
 public:
  HeadPrinter(const ComputeJob& job, const AttentionSteps& steps, Console& console)
      : prepared_(job.prepared), shape_(job.prepared.shape), steps_(steps), console_(console) {
    queries_ = labels_or_numbers(prepared_.labels.query_tokens, shape_.queries);
    keys_ = labels_or_numbers(prepared_.labels.key_tokens, shape_.keys);
  }

  void choose(Index batch, Index head) {
    batch_ = batch;
    head_ = head;
    kv_head_ = head / (shape_.heads / shape_.kv_heads);
    first_row_ = (batch * shape_.heads + head) * shape_.queries;
  }

  void print_heading() {
    if (shape_.rank == 2 && shape_.heads == 1) return;
    std::string text = "\n";
    if (shape_.rank > 2) text += concat("batch item ", batch_, ", ");
    text += concat("head ", head_);
    if (shape_.kv_heads != shape_.heads) text += concat(", which reads key/value head ", kv_head_);
    console_.print(text + "\n");
  }

  void print_head() {
    print_heading();
    const TensorView& query = prepared_.inputs.query;
    const TensorView& key = prepared_.inputs.key;
    table("Q: one row for each query", queries_, query.columns,
          [&](Index r, Index c) { return element(query, batch_, head_, r, c); });
    table("K: one row for each key", keys_, key.columns, [&](Index r, Index c) { return element(key, batch_, kv_head_, r, c); });
    if (prepared_.inputs.value) {
      const TensorView& value = *prepared_.inputs.value;
      table("V: one row for each key", keys_, value.columns,
            [&](Index r, Index c) { return element(value, batch_, kv_head_, r, c); });
    }
    scores("Q Kᵀ: each query times each key", steps_.products);
    scores(concat("scaled: times ", shown(steps_.report.scale)), steps_.scaled);
    if (prepared_.options.softcap != 0) {
      const std::string cap = shown(prepared_.options.softcap);
      scores(concat("capped: ", cap, " tanh(score / ", cap, ")"), steps_.capped);
    }
    if (steps_.report.mask_text != "none") scores(concat("masked: ", steps_.report.mask_text), steps_.masked);
    print_softmax();
    scores("weights: each exponential divided by the sum of its row", steps_.weights);
    if (prepared_.inputs.value) print_output();
  }

  void print_product(Index query, Index key) {
    print_heading();
    const Index row = first_row_ + query;
    TextTable terms{concat("query ", query, " ", name(queries_, query), "times key ", key, " ", name(keys_, key), "term by term"),
                    {"q", "k", "q k", "sum so far"},
                    {},
                    {}};
    double sum = 0;
    for (Index c = 0; c < shape_.head_size; ++c) {
      const double q = element(prepared_.inputs.query, batch_, head_, query, c);
      const double k = element(prepared_.inputs.key, batch_, kv_head_, key, c);
      sum += q * k;
      terms.row_labels.push_back(std::to_string(c));
      terms.cells.push_back({shown(q), shown(k), shown(q * k), shown(sum)});
    }
    print(terms);
    print_way(row, key);
    if (prepared_.inputs.value) print_share(row, key);
  }

 private:
  static std::string name(const std::vector<std::string>& labels, Index i) {
    const std::string& label = labels[static_cast<std::size_t>(i)];
    return label == std::to_string(i) ? "" : concat("'", printable(label, 60), "' ");
  }

  void print(const TextTable& text) { console_.print("\n" + format_table(text, console_.columns())); }

  void table(std::string title, const std::vector<std::string>& rows, Index columns, const Cell& cell,
             std::vector<std::string> column_labels = {}) {
    TextTable text{std::move(title), labels_or_numbers(column_labels, columns), rows, {}};
    for (Index r = 0; r < static_cast<Index>(rows.size()); ++r) {
      text.cells.emplace_back();
      for (Index c = 0; c < columns; ++c) text.cells.back().push_back(shown(cell(r, c)));
    }
    print(text);
  }

  void scores(std::string title, const KeptRows& rows) {
    table(
        std::move(title), queries_, shape_.keys, [&](Index r, Index c) { return rows.row(first_row_ + r)[c]; }, keys_);
  }

  std::optional<double> sink() const {
    if (prepared_.inputs.sinks.empty()) return std::nullopt;
    return prepared_.inputs.sinks[static_cast<std::size_t>(head_)];
  }

  /// Row maximum, exponentials and sum stand in one table: they are read from left to right.
  void print_softmax() {
    TextTable text{"softmax: the row maximum, exp(score - maximum), the sum", {"maximum"}, queries_, {}};
    text.column_labels.insert(text.column_labels.end(), keys_.begin(), keys_.end());
    if (sink()) text.column_labels.push_back("(sink)");
    text.column_labels.push_back("sum");
    for (Index r = 0; r < shape_.queries; ++r) {
      const auto softmax = steps_.softmax(first_row_ + r, sink());
      std::vector<std::string> cells{shown(softmax.maximum)};
      for (const double e : softmax.exponentials) cells.push_back(shown(e));
      if (sink()) cells.push_back(shown(softmax.sink));
      cells.push_back(shown(softmax.sum));
      text.cells.push_back(std::move(cells));
    }
    print(text);
  }

  void print_output() {
    const TensorView output = split_heads(*steps_.output, shape_.heads, TensorLayout::bhnd, "");
    table("output: weights times V", queries_, output.columns,
          [&](Index r, Index c) { return element(output, batch_, head_, r, c); });
  }

  /// From the product to the weight, one line for each step.
  void print_way(Index row, Index key) {
    const double product = steps_.products.row(row)[key], scaled = steps_.scaled.row(row)[key];
    const double masked = steps_.masked.row(row)[key];
    std::string text =
        concat("\nscaled       ", shown(product), " times ", shown(steps_.report.scale), " = ", shown(scaled), "\n");
    double score = scaled;
    if (prepared_.options.softcap != 0) {
      const std::string cap = shown(prepared_.options.softcap);
      score = steps_.capped.row(row)[key];
      text += concat("capped       ", cap, " tanh(", shown(scaled), " / ", cap, ") = ", shown(score), "\n");
    }
    const bool blocked = std::isinf(masked) && masked < 0;
    if (blocked)
      text += concat("masked       blocked (", steps_.report.mask_text, ")\n");
    else if (masked != score)
      text += concat("biased       ", shown(score), " plus ", shown(masked - score), " = ", shown(masked), "\n");
    const auto softmax = steps_.softmax(row, sink());
    const double exponential = softmax.exponentials[static_cast<std::size_t>(key)];
    text += concat("row maximum  ", shown(softmax.maximum), "\n");
    text += blocked ? concat("exponential  0\n")
                    : concat("exponential  exp(", shown(masked), " - ", shown(softmax.maximum), ") = ", shown(exponential), "\n");
    text += concat("row sum      ", shown(softmax.sum), sink() ? concat(", of which the sink ", shown(softmax.sink)) : "", "\n");
    text +=
        concat("weight       ", shown(exponential), " / ", shown(softmax.sum), " = ", shown(steps_.weights.row(row)[key]), "\n");
    console_.print(text);
  }

  void print_share(Index row, Index key) {
    const double weight = steps_.weights.row(row)[key];
    const TensorView& value = *prepared_.inputs.value;
    const TensorView output = split_heads(*steps_.output, shape_.heads, TensorLayout::bhnd, "");
    TextTable share{"what this key adds to the output of the query", {"weight", "v", "weight v", "whole output"}, {}, {}};
    for (Index c = 0; c < value.columns; ++c) {
      const double v = element(value, batch_, kv_head_, key, c);
      share.row_labels.push_back(std::to_string(c));
      // A blocked key's value is never read into the sum, whatever it holds.
      share.cells.push_back({shown(weight), shown(v), shown(weight == 0 ? 0 : weight * v),
                             shown(element(output, batch_, head_, row - first_row_, c))});
    }
    print(share);
  }

  const Prepared& prepared_;
  const AttentionShape& shape_;
  const AttentionSteps& steps_;
  Console& console_;
  std::vector<std::string> queries_, keys_;
  Index batch_ = 0, head_ = 0, kv_head_ = 0, first_row_ = 0;
};

/// All rows of each array, batch items one below the other.
void print_arrays(const std::vector<ShownArray>& arrays, Console& console) {
  for (const ShownArray& shown_array : arrays) {
    const TensorView view = rows_of(*shown_array.array);
    for (Index batch = 0; batch < view.batch; ++batch) {
      TextTable text{
          shown_array.title, labels_or_numbers({}, view.columns), labels_or_numbers(shown_array.labels, view.rows), {}};
      if (view.batch > 1) text.title += concat(", batch item ", batch);
      for (Index r = 0; r < view.rows; ++r) {
        text.cells.emplace_back();
        for (Index c = 0; c < view.columns; ++c) text.cells.back().push_back(shown(element(view, batch, 0, r, c)));
      }
      console.print("\n" + format_table(text, console.columns()));
    }
  }
}

}  // namespace

void print_steps(const ComputeJob& job, const AttentionSteps& steps, Console& console) {
  print_arrays(arrays_before(job.prepared), console);
  HeadPrinter printer(job, steps, console);
  for_each_head(job, [&](Index batch, Index head) {
    printer.choose(batch, head);
    printer.print_head();
  });
  print_arrays(arrays_after(job.prepared, steps), console);
}

void print_product(const ComputeJob& job, const AttentionSteps& steps, Index query, Index key, Console& console) {
  HeadPrinter printer(job, steps, console);
  for_each_head(job, [&](Index batch, Index head) {
    printer.choose(batch, head);
    printer.print_product(query, key);
  });
}

}  // namespace attn::app
