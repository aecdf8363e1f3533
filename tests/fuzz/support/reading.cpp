#include "fuzz/support/reading.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "attn/io/array_writer.hpp"
#include "fuzz/support/check.hpp"

namespace attn::fuzz {
namespace {

constexpr std::size_t kBudgetBytes = std::size_t{32} << 20;
/// By rows are read: arrays of at most so many elements, or a bomb of zeros would take the time of thousands of inputs.
constexpr Index kMostByRows = 1 << 16;

/// Standard input as a file in memory: opening it costs no system call, and the library calls it "-".
class StandardInput {
 public:
  static StandardInput& instance() {
    static StandardInput input;
    return input;
  }

  /// A pipe is a file that is read from its second byte on: what has been read in part is taken as it comes.
  void hold(std::string_view bytes, Feed feed) {
    const off_t start = feed == Feed::pipe ? 1 : 0;
    const auto end = static_cast<off_t>(bytes.size()) + start;
    bool held = ::pwrite(STDIN_FILENO, bytes.data(), bytes.size(), start) == static_cast<ssize_t>(bytes.size());
    held = held && (end >= size_ || ::ftruncate(STDIN_FILENO, end) == 0) && ::lseek(STDIN_FILENO, start, SEEK_SET) == start;
    require(held, "standard input cannot be filled");
    size_ = end;
  }

 private:
  StandardInput() {
    const int file = ::memfd_create("input", 0);
    require(file >= 0 && ::dup2(file, STDIN_FILENO) == STDIN_FILENO, "no file in memory");
    ::close(file);
  }
  off_t size_ = 0;
};

bool same_bits(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void require_rows_agree(ArrayFile& file, std::size_t member, const Array& array, const MemoryBudget& budget) {
  const Shape& shape = array.shape;
  const Index width = shape.empty() ? 1 : shape.back();
  if (array.size() == 0 || array.size() > kMostByRows || array.size() / width > 4096) return;
  const Array whole = convert_array(array, DType::f64, budget, "whole");
  std::vector<double> block(static_cast<std::size_t>(3 * width));
  for (Index row = 0; row < array.size() / width; row += 3) {
    const Index count = std::min<Index>(3, array.size() / width - row);
    file.read_rows(member, row, count, block.data());
    const double* const expected = whole.data<double>() + row * width;
    require(std::equal(expected, expected + count * width, block.data(), same_bits), "rows differ from the whole array");
  }
}

void require_sound(const Member& member) {
  require(is_printable(member.where), "a place that cannot be printed");
  const Shape& shape = member.shape;
  const auto fits = [&](const std::vector<std::string>& labels, std::size_t from_last) {
    if (labels.empty()) return true;
    return shape.size() >= from_last && static_cast<Index>(labels.size()) == shape[shape.size() - from_last];
  };
  require(fits(member.labels.key_tokens, 1), "as many key labels as columns");
  // The rows of a column of numbers have the labels of queries.
  require(fits(member.labels.query_tokens, 2) || fits(member.labels.query_tokens, 1), "as many query labels as rows");
}

Array checked_array(ArrayFile& file, std::size_t at, const MemoryBudget& budget) {
  const Member& member = file.members()[at];
  Array array = file.read(at, budget);
  require(array.shape == member.shape && array.dtype == member.dtype, "the array is not what its member says");
  require(array.bytes.size() == checked_bytes(array.shape, array.dtype, "array"), "the array has another size than its shape");
  require_rows_agree(file, at, array, budget);
  return array;
}

std::vector<std::string> without_indices(std::vector<std::string> labels) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != std::to_string(i)) return labels;
  return {};
}

/// Only of labels that the member has for its axis.
AxisLabels labels_for(const Member& member, const Shape& shape) {
  AxisLabels labels = member.labels;
  if (shape.size() < 2 || static_cast<Index>(labels.query_tokens.size()) != shape[shape.size() - 2]) labels.query_tokens.clear();
  if (shape.empty() || static_cast<Index>(labels.key_tokens.size()) != shape.back()) labels.key_tokens.clear();
  // A single column of that name is how a list of log-sum-exps is written.
  if (labels.key_tokens == std::vector<std::string>{"lse"}) labels.key_tokens.clear();
  return labels;
}

class MemorySink : public ByteSink {
 public:
  void write(const void* bytes, std::size_t count) override { content.append(static_cast<const char*>(bytes), count); }
  std::string content;
};

/// What the writers take: rank 1 to 4 (CSV: from 2 on), others in one row.
Shape written_shape(std::string_view format, const Array& array) {
  const std::size_t least = format == "csv" || format == "tsv" ? 2 : 1;
  if (array.shape.size() >= least && array.shape.size() <= 4) return array.shape;
  return least == 2 ? Shape{1, array.size()} : Shape{array.size()};
}

std::string written(std::string_view format, const ArrayHeader& header, const Array& numbers) {
  MemorySink bytes;
  const std::unique_ptr<RowSink> sink = make_array_writer(format, header, {}, bytes);
  const Index width = header.shape.back();
  const Index rows = checked_size(Shape(header.shape.begin(), header.shape.end() - 1), "rows");
  for (Index row = 0; row < rows; row += 5) {
    const Index count = std::min<Index>(5, rows - row);
    const std::size_t skipped = static_cast<std::size_t>(row * width) * item_size(numbers.dtype);
    const RowBlock block{row, count, width, numbers.dtype, numbers.bytes.data() + skipped, width};
    std::string encoded;
    sink->encode(block, encoded);
    sink->append(block, encoded);
  }
  sink->finish();
  return bytes.content;
}

}  // namespace

std::optional<Contents> read_contents(std::string_view bytes, const ReadOptions& options, std::string* refusal, Feed feed) {
  StandardInput::instance().hold(bytes, feed);
  RunContext run;
  run.budget = MemoryBudget(kBudgetBytes);
  Contents contents;
  try {
    const std::unique_ptr<ArrayFile> file = open_array_file("-", options, run);
    for (std::size_t i = 0; i < file->members().size(); ++i) {
      require_sound(file->members()[i]);
      contents.arrays.emplace_back();
      if (file->members()[i].kind == MemberKind::array) contents.arrays.back() = checked_array(*file, i, run.budget);
      require(run.budget.used() <= kBudgetBytes, "more memory than the budget");
    }
    contents.members = file->members();
  } catch (const Error& error) {
    require_orderly(error, kRefusals);
    if (refusal != nullptr) *refusal = error.message();
    contents.arrays.clear();
    require(run.budget.used() == 0, "memory of the budget is lost after a refusal");
    return std::nullopt;
  }
  return contents;
}

std::optional<Contents> read_both_ways(std::string_view bytes, const ReadOptions& options, std::string* refusal) {
  std::optional<Contents> contents = read_contents(bytes, options, refusal);
  if (bytes.empty() || std::hash<std::string_view>()(bytes) % 8 != 0) return contents;
  const std::optional<Contents> piped = read_contents(bytes, options, nullptr, Feed::pipe);
  require(contents.has_value() == piped.has_value(), "a pipe is not accepted as the file is");
  if (contents) require_same(*contents, *piped, "a pipe gives the same");
  return contents;
}

bool same_numbers(const Array& a, const Array& b) {
  if (a.shape != b.shape) return false;
  const MemoryBudget budget;
  const Array x = convert_array(a, DType::f64, budget, "x"), y = convert_array(b, DType::f64, budget, "y");
  return std::equal(x.data<double>(), x.data<double>() + x.size(), y.data<double>(), same_bits);
}

void require_same(const Contents& a, const Contents& b, std::string_view what) {
  require(a.members.size() == b.members.size(), what);
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    const Member &x = a.members[i], &y = b.members[i];
    require(x.name == y.name && x.kind == y.kind && x.dtype == y.dtype && x.shape == y.shape, what);
    require(x.strings == y.strings && x.text == y.text && x.fields == y.fields && x.found == y.found, what);
    require(x.labels.query_tokens == y.labels.query_tokens && x.labels.key_tokens == y.labels.key_tokens, what);
    if (x.kind == MemberKind::array) require(same_numbers(a.arrays[i], b.arrays[i]), what);
  }
}

void require_round_trip(std::string_view format, const Member& member, const Array& array) {
  const Index rows = array.shape.empty() ? 1 : checked_size(Shape(array.shape.begin(), array.shape.end() - 1), "rows");
  if (array.size() > kMostByRows || rows > kMostByRows) return;
  const bool narrow = array.dtype == DType::f32 || array.dtype == DType::f16 || array.dtype == DType::bf16;
  const MemoryBudget budget;
  Array numbers = convert_array(array, narrow ? DType::f32 : DType::f64, budget, "numbers");
  numbers.shape = written_shape(format, array);
  ArrayHeader header;
  header.name = "weights";
  header.dtype = numbers.dtype;
  header.shape = numbers.shape;
  header.labels = labels_for(member, header.shape);
  const std::string bytes = written(format, header, numbers);
  std::string refusal;
  ReadOptions options;
  options.format = format;
  const std::optional<Contents> again = read_contents(bytes, options, &refusal);
  require(again.has_value(), concat("what was written as ", format, " is refused: ", refusal));
  const auto found = std::find_if(again->members.begin(), again->members.end(),
                                  [](const Member& m) { return m.name == "weights" || m.name.empty(); });
  require(found != again->members.end(), "what was written is not found again");
  const Array& back = again->arrays[static_cast<std::size_t>(found - again->members.begin())];
  require(same_numbers(back, numbers), concat("what was written as ", format, " reads as other numbers"));
  if (format != "csv" && format != "tsv") return;
  require(without_indices(found->labels.query_tokens) == without_indices(header.labels.query_tokens), "row labels changed");
  require(without_indices(found->labels.key_tokens) == without_indices(header.labels.key_tokens), "column labels changed");
}

}  // namespace attn::fuzz
