#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attn/base/array.hpp"
#include "io/csv_scanner.hpp"

namespace attn {
inline namespace v1 {

/// The label columns of a file that this tool wrote: batch, head and query or key, as far as they are there. Gives back
/// the axes that the rows were flattened from; throws `malformed` for rows that are missing or out of order.
class GridRows {
 public:
  /// Takes the leading cells of the heading that name axes and returns how many they are.
  std::size_t read_heading(const std::vector<CsvCell>& heading);

  /// The label cell in column `index` of a row.
  void take(std::size_t index, CsvCell& cell, const CsvScanner& scanner);
  /// After the last cell of a row that began on `line`.
  void end_row(std::uint64_t line, const CsvScanner& scanner);
  /// After the last row: the axes of batch, head and rows.
  Shape finish(const CsvScanner& scanner);

  std::vector<std::string>& row_labels() { return row_labels_; }

 private:
  void begin_group(std::uint64_t line, const CsvScanner& scanner);

  std::size_t index_columns_ = 0;  // batch and head
  bool has_labels_ = false;        // query or key
  std::vector<Index> group_;       // batch and head of the rows being read
  std::vector<Index> row_;         // of the current row
  std::vector<std::string> row_labels_;
  std::string label_;
  Index rows_ = 0;         // of this group
  Index group_rows_ = -1;  // of each complete group; -1 before the first
  Index heads_ = -1;       // of each complete batch
  Index groups_ = 0;
  std::uint64_t last_line_ = 1;
};

/// Labels that only count 0, 1, 2, .. say nothing: they are taken away.
void drop_index_labels(std::vector<std::string>& labels);

}  // namespace v1
}  // namespace attn
