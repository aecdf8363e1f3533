#include "io/csv_writer.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "io/number_rows.hpp"

namespace attn {
inline namespace v1 {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The last axis runs down the file, under one heading, instead of across.
bool is_column(const ArrayHeader& header) { return header.name == "lse"; }

/// Rows of keys, not of queries.
bool has_key_rows(const ArrayHeader& header) { return is_one_of(header.name, {"key", "value", "present_key", "present_value"}); }

/// Columns that are keys; those of other arrays are components of a vector.
bool has_key_columns(const ArrayHeader& header) { return is_one_of(header.name, {"weights", "scores"}); }

/// Names of the axes before the rows: of three axes the first is the batch where heads lie side by side in a row.
std::vector<std::string> leading_axes(const ArrayHeader& header) {
  const std::size_t count = header.shape.size() - std::min<std::size_t>(header.shape.size(), is_column(header) ? 1 : 2);
  if (header.leading_axes.size() == count) return header.leading_axes;
  if (count == 1) return {has_key_columns(header) || is_column(header) ? "head" : "batch"};
  return count == 2 ? std::vector<std::string>{"batch", "head"} : std::vector<std::string>{};
}

class CsvWriter final : public RowSink {
 public:
  CsvWriter(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes, char delimiter)
      : header_(header), axes_(leading_axes(header)), options_(options), bytes_(bytes), delimiter_(delimiter) {
    labelled_ = has_csv_labels(header);
    column_ = is_column(header);
    if (labelled_) prepare_labels();
  }

  void encode(const RowBlock& rows, std::string& encoded) const override {
    for (Index r = 0; r < rows.count; ++r) {
      if (column_) {
        encode_column(rows, r, encoded);
        continue;
      }
      if (labelled_) append_labels(encoded, rows.first + r, rows.columns > 0);
      append_numbers(encoded, rows, r, delimiter_, "");
      encoded += '\n';
    }
  }

  void append(const RowBlock& rows, std::string_view encoded) override {
    begin();
    rows_ += rows.count;
    bytes_.write(encoded.data(), encoded.size());
  }

  void finish() override {
    begin();
    const Index expected = row_count(header_.shape);
    if (!header_.shape.empty() && header_.shape.back() == 0) {
      write_rows_without_cells(expected);
      return;
    }
    if (rows_ != expected)
      fail(ErrorKind::internal, "'", header_.name, "' has ", expected, " rows, but ", rows_, " came to be written");
  }

 private:
  /// The cells of labels as they are written.
  void prepare_labels() {
    const AxisLabels& labels = header_.labels;
    const bool key_rows = has_key_rows(header_) && !labels.key_tokens.empty();
    const auto& names = key_rows ? labels.key_tokens : labels.query_tokens;
    for (const std::string& name : names) row_cells_.push_back(cell(name));
    row_length_ = column_ ? header_.shape.back() : header_.shape.size() >= 2 ? header_.shape[header_.shape.size() - 2] : 1;
  }

  std::string cell(std::string_view label) const {
    std::string text;
    if (options_.csv_safe && is_spreadsheet_formula(label)) text += '\'';
    text += label;
    using namespace std::string_view_literals;
    // One of blanks alone would make a blank line of a row without numbers.
    const bool is_blank = text.find_first_not_of(" \t") == std::string::npos;
    if (!is_blank && text.find_first_of("\"\n\r\0"sv) == std::string::npos && text.find(delimiter_) == std::string::npos)
      return text;
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"') quoted += '"';
      quoted += c;
    }
    return quoted += '"';
  }

  void begin() {
    if (begun_) return;
    begun_ = true;
    if (!labelled_) return;
    std::string line;
    for (const std::string& axis : axes_) (line += axis) += delimiter_;
    line += has_key_rows(header_) ? "key" : "query";
    if (column_) (line += delimiter_) += header_.name;
    const Index columns = column_ ? 0 : header_.shape.back();
    const auto& names = header_.labels.key_tokens;
    const bool named = has_key_columns(header_) && static_cast<Index>(names.size()) == columns;
    for (Index c = 0; c < columns; ++c) {
      line += delimiter_;
      line += named ? cell(names[static_cast<std::size_t>(c)]) : std::to_string(c);
    }
    line += '\n';
    bytes_.write(line.data(), line.size());
  }

  /// "0,3,The," for line `line` of the file, counted without the heading.
  void append_labels(std::string& out, Index line, bool more_follows) const {
    Index group = row_length_ == 0 ? 0 : line / row_length_;
    const Index row = row_length_ == 0 ? 0 : line % row_length_;
    if (axes_.size() == 2) {
      const Index heads = header_.shape[1];
      out += concat(group / heads, delimiter_);
      group %= heads;
    }
    if (!axes_.empty()) out += concat(group, delimiter_);
    out += row < static_cast<Index>(row_cells_.size()) ? row_cells_[static_cast<std::size_t>(row)] : std::to_string(row);
    if (more_follows) out += delimiter_;
  }

  /// The labels of rows that were never brought, as they hold no numbers.
  void write_rows_without_cells(Index expected) {
    for (; labelled_ && !column_ && rows_ < expected; ++rows_) {
      std::string line;
      append_labels(line, rows_, false);
      line += '\n';
      bytes_.write(line.data(), line.size());
    }
  }

  void encode_column(const RowBlock& rows, Index r, std::string& out) const {
    const std::size_t item = item_size(rows.dtype);
    RowBlock one = rows;
    one.count = one.columns = 1;
    for (Index c = 0; c < rows.columns; ++c) {
      if (labelled_) append_labels(out, (rows.first + r) * rows.columns + c, true);
      one.data = static_cast<const std::byte*>(rows.data) + static_cast<std::size_t>(r * rows.stride + c) * item;
      append_numbers(out, one, 0, delimiter_, "");
      out += '\n';
    }
  }

  ArrayHeader header_;
  std::vector<std::string> axes_;
  WriteOptions options_;
  ByteSink& bytes_;
  char delimiter_;
  bool labelled_ = false;
  bool column_ = false;
  std::vector<std::string> row_cells_;  // by index where there are none
  Index row_length_ = 1;                // labels along the axis of the rows
  bool begun_ = false;
  Index rows_ = 0;
};

}  // namespace

bool has_csv_labels(const ArrayHeader& header) {
  if (!header.with_labels || header.shape.empty()) return false;
  if (is_column(header) || header.shape.size() >= 3) return true;
  if (header.shape.size() < 2) return false;
  if (header.shape[0] == 0 || header.shape[1] == 0) return true;  // numbers alone would leave an empty file
  return !header.labels.query_tokens.empty() || !header.labels.key_tokens.empty();
}

bool is_spreadsheet_formula(std::string_view label) {
  return !label.empty() && std::string_view("=+-@\t\r").find(label.front()) != std::string_view::npos;
}

std::unique_ptr<RowSink> make_csv_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes) {
  return std::make_unique<CsvWriter>(header, options, bytes, ',');
}

std::unique_ptr<RowSink> make_tsv_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes) {
  return std::make_unique<CsvWriter>(header, options, bytes, '\t');
}

}  // namespace v1
}  // namespace attn
