#include "io/csv_labels.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {

std::size_t GridRows::read_heading(const std::vector<CsvCell>& heading) {
  std::size_t columns = 0;
  const auto is_next = [&](std::string_view name) { return columns < heading.size() && heading[columns].text == name; };
  if (is_next("batch")) ++columns;
  if (is_next("head")) ++columns;
  index_columns_ = columns;
  has_labels_ = is_next("query") || is_next("key");
  row_.resize(index_columns_);
  return columns + (has_labels_ ? 1 : 0);
}

void GridRows::take(std::size_t index, CsvCell& cell, const CsvScanner& scanner) {
  if (index >= index_columns_) {
    label_ = std::move(cell.text);
    return;
  }
  const auto value = parse_integer(trimmed(cell.text));
  if (!value || *value < 0)
    fail(ErrorKind::malformed, scanner.place(cell.line, cell.column), "'", printable(cell.text, 40), "' is not the number of a ",
         index + 1 == index_columns_ && index_columns_ == 2 ? "head" : "batch or head");
  row_[index] = *value;
}

void GridRows::end_row(std::uint64_t line, const CsvScanner& scanner) {
  if (groups_ == 0 || row_ != group_) begin_group(line, scanner);
  last_line_ = line;
  const std::size_t row = static_cast<std::size_t>(rows_++);
  if (groups_ == 1) {
    if (has_labels_) row_labels_.push_back(std::move(label_));
    return;
  }
  if (rows_ > group_rows_)
    fail(ErrorKind::malformed, scanner.place(line), "row ", rows_, " of its head, the first head has ", group_rows_);
  if (has_labels_ && label_ != row_labels_[row])
    fail(ErrorKind::malformed, scanner.place(line), "found row '", printable(label_, 40), "', expected '",
         printable(row_labels_[row], 40), "' as in the first head");
}

void GridRows::begin_group(std::uint64_t line, const CsvScanner& scanner) {
  if (groups_ == 1) group_rows_ = rows_;
  if (groups_ > 0 && rows_ != group_rows_)
    fail(ErrorKind::malformed, scanner.place(line), "the rows before have ", rows_, " of a head, the first head has ",
         group_rows_);
  // Both count from 0; the head starts again when the batch goes on.
  std::vector<Index> next(index_columns_, 0);
  std::vector<Index> other = next;
  if (groups_ > 0) {
    next = other = group_;
    if (!next.empty()) ++next.back();
    if (index_columns_ == 2) other = {group_[0] + 1, 0};
  }
  const bool new_batch = index_columns_ == 2 && groups_ > 0 && row_ == other;
  const bool batch_complete = heads_ < 0 || (!group_.empty() && group_.back() + 1 == heads_);
  const bool fits = new_batch ? batch_complete : row_ == next && (heads_ < 0 || groups_ == 0 || next.back() < heads_);
  if (!fits) fail(ErrorKind::malformed, scanner.place(line), "batch and head must count up from 0 without gaps");
  if (new_batch) heads_ = group_.back() + 1;
  group_ = row_;
  rows_ = 0;
  ++groups_;
}

Shape GridRows::finish(const CsvScanner& scanner) {
  const bool complete = (group_rows_ < 0 || rows_ == group_rows_) && (heads_ < 0 || group_.back() + 1 == heads_);
  if (!complete) fail(ErrorKind::malformed, scanner.place(last_line_), "the file ends before the last head is complete");
  Shape shape;
  for (const Index index : group_) shape.push_back(index + 1);
  shape.resize(index_columns_, 0);
  shape.push_back(rows_);
  return shape;
}

void drop_index_labels(std::vector<std::string>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != std::to_string(i)) return;
  labels.clear();
}

}  // namespace v1
}  // namespace attn
