#include <algorithm>
#include <cmath>

#include "app/array_pick.hpp"
#include "app/commands.hpp"
#include "app/diff_report.hpp"
#include "app/inputs.hpp"
#include "app/outputs.hpp"
#include "app/row_reader.hpp"
#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "version.hpp"

namespace attn::app {
namespace {

/// Which array of A is compared with which of B.
struct Pair {
  std::size_t a = 0, b = 0;
};
struct Pairing {
  std::vector<Pair> pairs;
  std::vector<std::string> only_a, only_b;
};

bool lone_unnamed(const OpenedInput& input) {
  const auto arrays = array_members(*input.file);
  return arrays.size() == 1 && input.member(arrays.front()).name.empty();
}

/// The arrays that have a name to be compared by. Which cells are allowed is told beside the numbers: JSON has it as a
/// property of the weights, archives as one more array.
std::vector<std::size_t> compared_arrays(const OpenedInput& input) {
  std::vector<std::size_t> arrays = array_members(*input.file);
  const auto is_allowed = [&](std::size_t i) {
    return input.member(i).name == "allowed" && input.member(i).dtype == DType::boolean;
  };
  if (arrays.size() > 1) std::erase_if(arrays, is_allowed);
  return arrays;
}

Pairing pair_by_name(const OpenedInput& a, const OpenedInput& b) {
  Pairing result;
  const auto arrays_b = compared_arrays(b);
  for (const std::size_t index : compared_arrays(a)) {
    const std::string& name = a.member(index).name;
    const auto found = std::find_if(arrays_b.begin(), arrays_b.end(), [&](std::size_t i) { return b.member(i).name == name; });
    if (found != arrays_b.end()) {
      result.pairs.push_back({index, *found});
    } else {
      result.only_a.push_back(name);
    }
  }
  for (const std::size_t index : arrays_b) {
    const auto same = [&](const Pair& pair) { return pair.b == index; };
    if (std::none_of(result.pairs.begin(), result.pairs.end(), same)) result.only_b.push_back(b.member(index).name);
  }
  return result;
}

Pairing pair_arrays(const OpenedInput& a, const OpenedInput& b) {
  // An array that was named, or that has no name (CSV, npy), is compared with the array that the other side means.
  if (a.named || b.named || lone_unnamed(a) || lone_unnamed(b)) return {{{pick_array(a), pick_array(b)}}, {}, {}};
  Pairing result = pair_by_name(a, b);
  if (result.pairs.empty() && result.only_a.empty() && result.only_b.empty())
    fail(ErrorKind::mismatch, printable(a.reference), " and ", printable(b.reference), ": found no array of numbers in either");
  return result;
}

struct Tolerance {
  double atol = 1e-6, rtol = 1e-5;
};

/// a - b, for a picture; equal cells are 0 although inf - inf and NaN - NaN are not.
double cell_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return a - b;
}

/// Whether one array stood as decimal text and the other is of float32, for which text has fewer digits than a double.
bool is_text_beside_float32(const Member& a, const Member& b) {
  return (a.is_text && b.dtype == DType::f32) || (b.is_text && a.dtype == DType::f32);
}

/// Whether a double is what this tool writes for a float32: both are one result, whatever their difference as doubles.
bool is_text_of(double text, float number) {
  constexpr double kBeyond = 0x1.ffffffp127;  // rounds to infinity
  if (!std::isfinite(number) || std::fabs(text) >= kBeyond || static_cast<float>(text) != number) return false;
  std::string written;
  append_number(written, number);
  double read = 0;
  return parse_number(written, read) == NumberStatus::ok && read == text;
}

class Comparison {
 public:
  Comparison(const OpenedInput& a, const OpenedInput& b, Tolerance tolerance, const Console& console)
      : a_(a), b_(b), tolerance_(tolerance), console_(console) {}

  ArrayComparison compare(const Pair& pair, const std::vector<RowSink*>& sinks, Index first_row) const {
    const Member& a = a_.member(pair.a);
    const Member& b = b_.member(pair.b);
    ArrayComparison result;
    result.name = !a.name.empty() ? a.name : b.name;
    result.shape = a.shape;
    result.reference_shape = b.shape;
    result.labels_differ = !same_labels(a.labels, b.labels);
    if (!result.shapes_differ()) add_rows(pair, result, sinks, first_row);
    return result;
  }

 private:
  // Labels of one side only (a bare CSV beside a labelled one) contradict nothing.
  static bool same_labels(const AxisLabels& a, const AxisLabels& b) {
    const auto same = [](const auto& x, const auto& y) { return x.empty() || y.empty() || x == y; };
    return same(a.query_tokens, b.query_tokens) && same(a.key_tokens, b.key_tokens);
  }

  void add_rows(const Pair& pair, ArrayComparison& result, const std::vector<RowSink*>& sinks, Index first_row) const {
    const RowCount size = row_count(result.shape);
    const auto elements = static_cast<std::size_t>(rows_per_block(size) * size.columns);
    const Buffer bytes = console_.run().budget.allocate(2 * elements * sizeof(double), "rows to compare");
    auto* reference = reinterpret_cast<double*>(const_cast<std::byte*>(bytes.data()));
    double* difference = reference + elements;
    const bool by_text = is_text_beside_float32(a_.member(pair.a), b_.member(pair.b));
    for_each_rows(a_, pair.a, console_, [&](Index first, Index count, const double* values) {
      b_.file->read_rows(pair.b, first, count, reference);
      if (by_text) settle_text(a_.member(pair.a).is_text, values, reference, count * size.columns);
      for (Index r = 0; r < count; ++r)
        result.add_row(values + r * size.columns, reference + r * size.columns, size.columns, tolerance_.atol, tolerance_.rtol);
      if (sinks.empty()) return;
      for (Index i = 0; i < count * size.columns; ++i) difference[i] = cell_difference(values[i], reference[i]);
      deliver({first_row + first, count, size.columns, DType::f64, difference, size.columns}, sinks);
    });
  }

  /// Makes the reference equal where one side is the text of the other.
  static void settle_text(bool text_is_a, const double* values, double* reference, Index count) {
    for (Index i = 0; i < count; ++i) {
      const double text = text_is_a ? values[i] : reference[i];
      const double number = text_is_a ? reference[i] : values[i];
      if (text != number && is_text_of(text, static_cast<float>(number))) reference[i] = values[i];
    }
  }

  static void deliver(const RowBlock& rows, const std::vector<RowSink*>& sinks) {
    std::string encoded;
    for (RowSink* sink : sinks) {
      encoded.clear();
      sink->encode(rows, encoded);
      sink->append(rows, encoded);
    }
  }

  const OpenedInput& a_;
  const OpenedInput& b_;
  const Tolerance tolerance_;
  const Console& console_;
};

/// The pictures of --heatmap: of the one pair that is meant, in HTML of every pair of rank 3 or 4 in an archive.
class Heatmaps {
 public:
  Heatmaps(const Words& words, const Console& console) : console_(console), files_(words.has("--no-clobber")) {
    for (const std::string& path : words.values("--heatmap")) {
      if (path == "-") fail(ErrorKind::usage, "--heatmap -: standard output takes the answer, expected a file");
      const std::string format = output_format(path, words, console, FormatKind::picture);
      if (picture_format_of(format).empty())
        fail(ErrorKind::usage, "--heatmap: '", printable(path), "' is no picture, expected ", word_list(picture_format_names()));
      outputs_.push_back({path, format, &files_.open(path), nullptr});
    }
  }

  bool wanted() const { return !outputs_.empty(); }

  void begin(const OpenedInput& a, const Pair& pair) {
    PictureSpec spec;
    PictureLayer layer;
    layer.name = a.member(pair.a).name;
    layer.where = a.member(pair.a).where;
    layer.shape = a.member(pair.a).shape;
    while (layer.shape.size() < 2) layer.shape.insert(layer.shape.begin(), 1);
    layer.labels = a.member(pair.a).labels;
    layer.kind = "difference";
    spec.layers.push_back(layer);
    spec.version = kVersion;
    spec.options.center = 0.0;
    spec.options.terminal_columns = console_.columns();
    for (Output& output : outputs_) {
      output.picture = make_picture(output.format, spec, *output.bytes, console_.run().budget);
    }
  }

  std::vector<RowSink*> sinks() const {
    std::vector<RowSink*> sinks;
    for (const Output& output : outputs_) sinks.push_back(output.picture.get());
    return sinks;
  }

  void draw(Console& console) {
    for (Output& output : outputs_) {
      output.picture->finish();
      for (const std::string& note : output.picture->notes()) console.note(note);
    }
  }

  void commit() { files_.commit(); }

 private:
  struct Output {
    std::string path;
    std::string format;
    ByteSink* bytes;
    std::unique_ptr<Picture> picture;
  };
  const Console& console_;
  OutputFiles files_;
  std::vector<Output> outputs_;
};

/// The pair that --heatmap draws: the only one, else the one that would be picked in A.
std::optional<std::size_t> drawn_pair(const OpenedInput& a, const OpenedInput& b, const std::vector<Pair>& pairs) {
  if (pairs.empty()) return std::nullopt;
  const std::size_t wanted = pairs.size() == 1 ? pairs.front().a : pick_array(a);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].a == wanted && a.member(wanted).shape == b.member(pairs[i].b).shape) return i;
  return std::nullopt;
}

Tolerance tolerance_of(const Words& words) {
  Tolerance tolerance;
  if (words.has("--atol")) tolerance.atol = number_value("--atol", words.value("--atol"));
  if (words.has("--rtol")) tolerance.rtol = number_value("--rtol", words.value("--rtol"));
  if (tolerance.atol < 0 || tolerance.rtol < 0) fail(ErrorKind::usage, "--atol and --rtol: expected 0 or more");
  return tolerance;
}

int run_diff(const Words& words, Console& console) {
  const Tolerance tolerance = tolerance_of(words);
  if (words.inputs[0] == "-" && words.inputs[1] == "-")
    fail(ErrorKind::usage, "found - twice: standard input can be read only once");
  Heatmaps heatmaps(words, console);
  InputFiles named({}, console.run());  // opening a pipe waits for its writer: two of one are refused before
  for (const std::string& input : words.inputs) named.claim(parse_file_reference(input).path);
  const OpenedInput a = open_input(words.inputs[0], read_options(words), console);
  const OpenedInput b = open_input(words.inputs[1], read_options(words), console);
  const Pairing pairing = pair_arrays(a, b);
  DiffReport report{a.reference, b.reference, tolerance.atol, tolerance.rtol, {}, pairing.only_a, pairing.only_b};
  const auto drawn = heatmaps.wanted() ? drawn_pair(a, b, pairing.pairs) : std::nullopt;
  const Comparison comparison(a, b, tolerance, console);
  for (std::size_t i = 0; i < pairing.pairs.size(); ++i) {
    const bool draw = drawn == i;
    if (draw) heatmaps.begin(a, pairing.pairs[i]);
    report.arrays.push_back(comparison.compare(pairing.pairs[i], draw ? heatmaps.sinks() : std::vector<RowSink*>(), 0));
    if (report.arrays.back().labels_differ)
      console.note(concat("the labels of ", printable(a.reference), " and ", printable(b.reference),
                          " differ; only numbers are compared"));
  }
  if (drawn) heatmaps.draw(console);
  if (heatmaps.wanted() && !drawn) console.note("no heatmap: there are no two arrays of one shape");
  console.print(words.has("--json") ? report.json() : report.text());
  // The answer first: when it cannot be written, no file is replaced.
  if (console.flush() && drawn) heatmaps.commit();
  return report.same() ? 0 : 1;
}

std::vector<OptionSpec> diff_options() {
  std::vector<OptionSpec> options{{.name = "--atol",
                                   .value = "X",
                                   .kind = ValueKind::number,
                                   .group = "Comparison",
                                   .help = "absolute tolerance: |a-b| <= atol + rtol |b| is the same",
                                   .default_text = "1e-6"},
                                  {.name = "--rtol",
                                   .value = "X",
                                   .kind = ValueKind::number,
                                   .group = "Comparison",
                                   .help = "relative tolerance",
                                   .default_text = "1e-5"},
                                  {.name = "--json", .group = "Outputs", .help = "the same as JSON"},
                                  {.name = "--heatmap",
                                   .value = "FILE",
                                   .kind = ValueKind::file,
                                   .group = "Outputs",
                                   .help = "a - b as a picture",
                                   .repeatable = true},
                                  format_option("Outputs", "the format of a heatmap whose name does not tell one", true),
                                  {.name = "--no-clobber", .group = "Outputs", .help = "refuse to replace a file"}};
  options.insert(options.end(), reading_options().begin(), reading_options().end());
  return options;
}

}  // namespace

const Command& diff_command() {
  static const Command command{
      .name = "diff",
      .summary = "tell whether two files agree",
      .usage = "diff A B [--atol X] [--rtol X] [options]",
      .examples = {"attn-cli diff query.csv query.csv", "attn-cli compute two-heads.json -w weights.npy",
                   "attn-cli compute two-heads.json --kernel reference -w reference.npy",
                   "attn-cli diff weights.npy reference.npy --atol 1e-6 --heatmap error.png"},
      .description =
          "B is the reference: two numbers agree when |a-b| <= atol + rtol |b|; NaN agrees with NaN in the same "
          "place; decimal text is the float32 that it was written for. Other shapes or names are a difference. The exit code is "
          "0 for the same and 1 for different.",
      .min_inputs = 2,
      .max_inputs = 2,
      .options = diff_options(),
      .run = run_diff};
  return command;
}

}  // namespace attn::app
