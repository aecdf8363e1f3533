#include <algorithm>
#include <cmath>

#include "app/array_pick.hpp"
#include "app/commands.hpp"
#include "app/document.hpp"
#include "app/inputs.hpp"
#include "app/json_text.hpp"
#include "app/row_reader.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/core/statistics.hpp"

namespace attn::app {
namespace {

constexpr Index kRowsUnasked = 16;  // queries whose strongest keys are shown without --top
constexpr Index kKeysUnasked = 3;

struct Strongest {
  Index row = 0;
  std::vector<std::pair<Index, double>> keys;
};

/// Rows that are weights: not negative, each summing to 1, to less (sinks), or to 0 (empty).
struct WeightFigures {
  bool possible = true;
  double least_sum = 0, greatest_sum = 0;
  double least_entropy = 0, greatest_entropy = 0, total_entropy = 0;
  Index rows = 0, empty_rows = 0;
  std::vector<Strongest> strongest;

  void add(Index row, const WeightRow& found);
  void refuse() {
    *this = WeightFigures();
    possible = false;
  }
};

struct ArrayFigures {
  ValueStatistics values;
  WeightFigures weights;
};

void WeightFigures::add(Index row, const WeightRow& found) {
  least_sum = rows ? std::min(least_sum, found.sum) : found.sum;
  greatest_sum = rows ? std::max(greatest_sum, found.sum) : found.sum;
  least_entropy = rows ? std::min(least_entropy, found.entropy) : found.entropy;
  greatest_entropy = rows ? std::max(greatest_entropy, found.entropy) : found.entropy;
  total_entropy += found.entropy;
  ++rows;
  if (found.sum == 0) ++empty_rows;
  if (!found.strongest.empty()) strongest.push_back({row, found.strongest});
}

constexpr int kLongestKey = 20;  // columns of a terminal

/// An array by this name is weights whatever its rows sum to; others must look like it.
bool named_weights(const Member& member) { return member.name == "weights"; }

bool looks_like_weights(const double* row, Index keys) {
  // float16 rows of thousands of keys sum to 1 only within some percent.
  constexpr double kMostSum = 1.02;
  double sum = 0;
  for (Index key = 0; key < keys; ++key) {
    if (!(row[key] >= 0)) return false;  // NaN too
    sum += row[key];
  }
  return sum <= kMostSum;
}

bool may_be_weights(const Member& member) {
  const bool real =
      member.dtype == DType::f16 || member.dtype == DType::bf16 || member.dtype == DType::f32 || member.dtype == DType::f64;
  // One-hot embeddings have sums of 1 too.
  return named_weights(member) ||
         (real && member.shape.size() >= 2 && member.shape.size() <= 4 && !is_document_name(member.name));
}

struct TopWish {
  Index keys = kKeysUnasked;
  Index rows = kRowsUnasked;  ///< beyond it none is kept
};

ArrayFigures measure(const OpenedInput& input, std::size_t index, const TopWish& top, const Console& console) {
  const Member& member = input.member(index);
  const Index columns = row_count(member.shape).columns;
  ArrayFigures figures;
  figures.weights.possible = may_be_weights(member);
  for_each_rows(input, index, console, [&](Index first, Index count, const double* values) {
    figures.values.add(values, count * columns);
    for (Index r = 0; r < count && figures.weights.possible; ++r) {
      const double* row = values + r * columns;
      if (!named_weights(member) && !looks_like_weights(row, columns)) {
        figures.weights.refuse();
        break;
      }
      figures.weights.add(first + r, weight_row(row, columns, first + r < top.rows ? top.keys : 0));
    }
  });
  // Rows of which none has a sum near 1 are small numbers, not weights.
  const bool sums = figures.weights.greatest_sum > 0.5 || named_weights(member);
  if (figures.weights.rows == 0 || !sums) figures.weights.refuse();
  return figures;
}

std::string label_of(const std::vector<std::string>& labels, Index at) {
  const auto place = static_cast<std::size_t>(at);
  return place < labels.size() ? labels[place] : std::to_string(at);
}

std::string shown(double value) { return format_rounded(value, 6); }

std::string shown_name(const Member& member) { return member.name.empty() ? "(unnamed)" : member.name; }

/// "[head 1] cat": the query of a row, with the axes before it by index.
std::string row_label(const Member& member, const AxisLabels& labels, Index row) {
  const Shape leading(member.shape.begin(), member.shape.end() - 1);
  const Shape place = place_of(row, leading);
  std::string text;
  for (std::size_t axis = 0; axis + 1 < place.size(); ++axis)
    text += concat(place.size() - axis == 3 ? "batch " : "head ", place[axis], ", ");
  return text + label_of(labels.query_tokens, place.empty() ? 0 : place.back());
}

std::string weights_text(const Member& member, const AxisLabels& labels, const WeightFigures& weights, int columns) {
  const double mean = weights.total_entropy / static_cast<double>(weights.rows);
  std::string text = concat("\n", printable(shown_name(member)), ": row sums ", shown(weights.least_sum), " to ",
                            shown(weights.greatest_sum), ", entropy ", shown(weights.least_entropy), " to ",
                            shown(weights.greatest_entropy), " nats (mean ", shown(mean), ")");
  if (weights.empty_rows > 0) text += concat(", ", weights.empty_rows, " empty ", weights.empty_rows == 1 ? "row" : "rows");
  text += '\n';
  if (weights.strongest.empty()) return text;
  TextTable table;
  table.title = "Strongest keys";
  for (std::size_t i = 0; i < weights.strongest.front().keys.size(); ++i) table.column_labels.push_back(std::to_string(i + 1));
  for (const Strongest& strongest : weights.strongest) {
    table.row_labels.push_back(row_label(member, labels, strongest.row));
    std::vector<std::string>& cells = table.cells.emplace_back();
    for (const auto& [key, weight] : strongest.keys)
      cells.push_back(concat(table_label(label_of(labels.key_tokens, key), kLongestKey), " ", shown(weight)));
  }
  text += format_table(table, columns);
  if (static_cast<Index>(weights.strongest.size()) < weights.rows)
    text += concat("... of ", weights.rows, " rows; --top K shows all\n");
  return text;
}

std::string other_text(const Member& member) {
  switch (member.kind) {
    case MemberKind::strings:
      return concat(member.strings.size(), member.strings.size() == 1 ? " string" : " strings");
    case MemberKind::text:
      return printable(member.text, 120);
    case MemberKind::scalar:
      return printable(member.text, 120);
    case MemberKind::object:
      return concat("an object with ", member.fields.size(), member.fields.size() == 1 ? " field" : " fields");
    case MemberKind::array:
    case MemberKind::other:
      break;
  }
  return member.found;
}

std::string dtype_text(const Member& member) { return concat(dtype_name(member.dtype), member.is_text ? " (text)" : ""); }

std::string inspect_text(const OpenedInput& input, const std::vector<std::size_t>& arrays, const TopWish& top, Console& console) {
  TextTable table;
  table.column_labels = {"dtype", "shape", "minimum", "maximum", "mean", "NaN", "infinite"};
  std::string weights;
  for (const std::size_t index : arrays) {
    const Member& member = input.member(index);
    const ArrayFigures figures = measure(input, index, top, console);
    const ValueStatistics& values = figures.values;
    const auto number = [&](double value) { return values.count ? shown(value) : std::string("-"); };
    table.row_labels.push_back(shown_name(member));
    table.cells.push_back({dtype_text(member), shape_text(member.shape), number(values.minimum), number(values.maximum),
                           number(values.mean()), std::to_string(values.nan), std::to_string(values.infinite)});
    if (figures.weights.possible)
      weights += weights_text(member, labels_of(*input.file, member), figures.weights, console.columns());
  }
  std::string text = concat(printable(input.reference), ": ", input.file->format(), "\n");
  if (!arrays.empty()) text += format_table(table, console.columns());
  for (const Member& member : input.file->members())
    if (!input.named && member.kind != MemberKind::array) text += concat(printable(member.name), ": ", other_text(member), "\n");
  return text + weights;
}

void weights_json(JsonText& json, const Member& member, const AxisLabels& labels, const WeightFigures& weights) {
  json.begin_object("weights").integer("rows", weights.rows).integer("empty_rows", weights.empty_rows);
  json.begin_object("row_sum").number("minimum", weights.least_sum).number("maximum", weights.greatest_sum).end();
  json.begin_object("entropy").number("minimum", weights.least_entropy).number("maximum", weights.greatest_entropy);
  json.number("mean", weights.total_entropy / static_cast<double>(weights.rows)).end();
  json.begin_array("strongest");
  for (const Strongest& strongest : weights.strongest) {
    const Shape leading(member.shape.begin(), member.shape.end() - 1);
    const Shape place = place_of(strongest.row, leading);
    json.begin_object().indices("row", place);
    json.text("query", label_of(labels.query_tokens, place.empty() ? 0 : place.back()));
    json.begin_array("keys");
    for (const auto& [key, weight] : strongest.keys)
      json.begin_object().integer("index", key).text("key", label_of(labels.key_tokens, key)).number("weight", weight).end();
    json.end().end();
  }
  json.end().end();
}

std::string inspect_json(const OpenedInput& input, const std::vector<std::size_t>& arrays, const TopWish& top, Console& console) {
  JsonText json;
  json.begin_object().text("schema", "attn-cli/1").text("file", input.reference).text("format", input.file->format());
  json.begin_array("arrays");
  for (const std::size_t index : arrays) {
    const Member& member = input.member(index);
    const ArrayFigures figures = measure(input, index, top, console);
    const ValueStatistics& values = figures.values;
    json.begin_object().text("name", member.name).text("dtype", dtype_name(member.dtype)).indices("shape", member.shape);
    if (values.count) json.number("minimum", values.minimum).number("maximum", values.maximum).number("mean", values.mean());
    json.integer("finite", values.count).integer("nan", values.nan).integer("infinite", values.infinite);
    if (figures.weights.possible) weights_json(json, member, labels_of(*input.file, member), figures.weights);
    json.end();
  }
  json.end().begin_array("others");
  for (const Member& member : input.file->members())
    if (!input.named && member.kind != MemberKind::array)
      json.begin_object().text("name", member.name).text("value", other_text(member)).end();
  return json.end().end().take();
}

int run_inspect(const Words& words, Console& console) {
  TopWish top;
  if (words.has("--top")) {
    constexpr long long kMost = 1 << 20;
    top = {integer_value("--top", words.value("--top"), 1, kMost), std::numeric_limits<Index>::max()};
  }
  const OpenedInput input = open_input(words.inputs.front(), read_options(words), console);
  std::vector<std::size_t> arrays;
  if (input.named) {
    arrays.push_back(*input.named);
  } else {
    // In the order of the file: readers go forward through it.
    for (std::size_t i = 0; i < input.file->members().size(); ++i)
      if (input.member(i).kind == MemberKind::array) arrays.push_back(i);
  }
  const bool json = words.has("--json");
  console.print(json ? inspect_json(input, arrays, top, console) : inspect_text(input, arrays, top, console));
  return 0;
}

std::vector<OptionSpec> inspect_options() {
  std::vector<OptionSpec> options{{.name = "--top",
                                   .value = "K",
                                   .kind = ValueKind::integer,
                                   .group = "What is shown",
                                   .help = "the K strongest keys of every query",
                                   .default_text = "3, of the first 16 queries"},
                                  {.name = "--json", .group = "What is shown", .help = "the same as JSON"}};
  options.insert(options.end(), reading_options().begin(), reading_options().end());
  return options;
}

}  // namespace

const Command& inspect_command() {
  static const Command command{.name = "inspect",
                               .summary = "tell what is in a file",
                               .usage = "inspect FILE|ARCHIVE:NAME [--top K] [--json]",
                               .examples = {"attn-cli inspect two-heads.json", "attn-cli compute two-heads.json -w weights.npz",
                                            "attn-cli inspect weights.npz --top 2"},
                               .description =
                                   "Prints names, element types, shapes, minimum, maximum, mean and the counts of "
                                   "NaN and infinity; of weights also row sums, entropy and the strongest keys.",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .options = inspect_options(),
                               .run = run_inspect};
  return command;
}

}  // namespace attn::app
