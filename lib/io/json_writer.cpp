#include "io/json_writer.hpp"

#include <algorithm>
#include <cmath>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/json_parts.hpp"
#include "io/number_rows.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{64} << 10;

/// How many rows lie in one list of each level around them: level 0 is the whole array. None for rank 1.
std::vector<Index> rows_in_lists(const Shape& shape) {
  std::vector<Index> rows;
  for (std::size_t level = 0; level + 1 < shape.size(); ++level) {
    Index product = 1;
    for (std::size_t axis = level; axis + 1 < shape.size(); ++axis) product *= shape[axis];
    rows.push_back(product);
  }
  return rows;
}

/// The brackets, commas and line breaks around the rows of a nested list, each row on a line of its own.
class RowBrackets {
 public:
  explicit RowBrackets(const Shape& shape) : lists_(rows_in_lists(shape)) {}

  void before_row(std::string& out, Index row) const {
    if (lists_.empty()) return;
    out += row == 0 ? "[\n " : ",\n ";
    // Lists that begin here; the others are open already and leave a blank, so that the rows stand in line.
    for (std::size_t level = 1; level < lists_.size(); ++level) out += row % lists_[level] == 0 ? '[' : ' ';
  }
  void after_row(std::string& out, Index row) const {
    for (const Index rows : lists_)
      if ((row + 1) % rows == 0) out += ']';
  }

 private:
  std::vector<Index> lists_;
};

/// The nested list of an array that has no elements: [2,0,3] is [[],[]].
void write_empty_lists(const Shape& shape, std::size_t axis, std::string& out, ByteSink& bytes) {
  out += '[';
  if (axis + 1 < shape.size()) {
    for (Index i = 0; i < shape[axis]; ++i) {
      if (i > 0) out += ',';
      write_empty_lists(shape, axis + 1, out, bytes);
    }
  }
  out += ']';
  if (out.size() < kFlushBytes) return;
  bytes.write(out.data(), out.size());
  out.clear();
}

bool has_no_elements(const Shape& shape) { return checked_size(shape, "an array to be written") == 0; }

class JsonValueWriter final : public RowSink {
 public:
  JsonValueWriter(const ArrayHeader& header, ByteSink& bytes)
      : name_(header.name), shape_(header.shape), brackets_(header.shape), empty_(has_no_elements(header.shape)), bytes_(bytes) {}

  void encode(const RowBlock& rows, std::string& encoded) const override {
    if (empty_) return;
    for (Index r = 0; r < rows.count; ++r) {
      brackets_.before_row(encoded, rows.first + r);
      encoded += '[';
      append_numbers(encoded, rows, r, ',', "\"");
      encoded += ']';
      brackets_.after_row(encoded, rows.first + r);
    }
  }

  void append(const RowBlock& rows, std::string_view encoded) override {
    rows_ += rows.count;
    bytes_.write(encoded.data(), encoded.size());
  }

  void finish() override {
    if (empty_) {
      std::string text;
      write_empty_lists(shape_, 0, text, bytes_);
      bytes_.write(text.data(), text.size());
    } else if (rows_ != row_count(shape_)) {
      fail(ErrorKind::internal, "'", name_, "' has ", row_count(shape_), " rows, but ", rows_, " came to be written");
    }
  }

 private:
  std::string name_;
  Shape shape_;
  RowBrackets brackets_;
  bool empty_;
  ByteSink& bytes_;
  Index rows_ = 0;
};

class JsonWriter final : public RowSink {
 public:
  JsonWriter(const ArrayHeader& header, ByteSink& bytes)
      : header_(header), value_(make_json_value_writer(header, bytes)), bytes_(bytes) {}

  void encode(const RowBlock& rows, std::string& encoded) const override { value_->encode(rows, encoded); }
  void append(const RowBlock& rows, std::string_view encoded) override {
    begin();
    value_->append(rows, encoded);
  }
  void finish() override {
    begin();
    value_->finish();
    bytes_.write("}\n", 2);
  }

 private:
  void begin() {
    if (begun_) return;
    begun_ = true;
    std::string text = "{\"schema\":\"attn-cli/1\",\n \"shape\":";
    text += shape_text(header_.shape);
    text += ",\n ";
    append_json_labels_and_facts(text, header_);
    bytes_.write(text.data(), text.size());
    write_json_allowed(header_, bytes_);
    text.clear();
    append_json_string(text, header_.name);
    text += ':';
    bytes_.write(text.data(), text.size());
  }

  ArrayHeader header_;
  std::unique_ptr<RowSink> value_;
  ByteSink& bytes_;
  bool begun_ = false;
};

void append_tokens(std::string& out, std::string_view name, const std::vector<std::string>& tokens) {
  if (tokens.empty()) return;
  append_json_string(out, name);
  out += ":[";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, tokens[i]);
  }
  out += "],\n ";
}

void append_fact(std::string& out, const std::variant<double, std::string>& fact) {
  const double* number = std::get_if<double>(&fact);
  if (number == nullptr)
    append_json_string(out, std::get<std::string>(fact));
  else if (std::isfinite(*number))
    append_number(out, *number);
  else
    append_json_string(out, format_number(*number));
}

}  // namespace

std::unique_ptr<RowSink> make_json_value_writer(const ArrayHeader& header, ByteSink& bytes) {
  return std::make_unique<JsonValueWriter>(header, bytes);
}

void append_json_labels_and_facts(std::string& out, const ArrayHeader& header) {
  append_tokens(out, "query_tokens", header.labels.query_tokens);
  append_tokens(out, "key_tokens", header.labels.key_tokens);
  for (const auto& [name, fact] : header.facts) {
    append_json_string(out, name);
    out += ':';
    append_fact(out, fact);
    out += ",\n ";
  }
}

void append_json_shapes(std::string& out, const std::vector<ArrayHeader>& headers) {
  if (std::none_of(headers.begin(), headers.end(), [](const ArrayHeader& header) { return has_no_elements(header.shape); }))
    return;
  std::string_view separator = "\"shapes\":{";
  for (const ArrayHeader& header : headers) {
    out += separator;
    append_json_string(out, header.name);
    (out += ':') += shape_text(header.shape);
    separator = ",";
  }
  out += "},\n ";
}

void write_json_allowed(const ArrayHeader& header, ByteSink& bytes) {
  if (header.visibility == nullptr || header.shape.size() < 2) return;
  std::string out = "\"allowed\":";
  const Shape leading(header.shape.begin(), header.shape.end() - 1);
  const Index rows = checked_size(leading, header.name);
  if (rows == 0) write_empty_lists(leading, 0, out, bytes);
  const RowBrackets brackets(header.shape);
  std::vector<Range> ranges;
  for (Index row = 0; row < rows; ++row) {
    brackets.before_row(out, row);
    header.visibility->allowed_keys(row, ranges);
    out += '[';
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (i > 0) out += ',';
      out += concat("[", ranges[i].begin, ",", ranges[i].end, "]");
    }
    out += ']';
    brackets.after_row(out, row);
    if (out.size() < kFlushBytes) continue;
    bytes.write(out.data(), out.size());
    out.clear();
  }
  out += ",\n ";
  bytes.write(out.data(), out.size());
}

std::unique_ptr<RowSink> make_json_writer(const ArrayHeader& header, const WriteOptions& /*options*/, ByteSink& bytes) {
  return std::make_unique<JsonWriter>(header, bytes);
}

}  // namespace v1
}  // namespace attn
