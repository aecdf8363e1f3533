#include <algorithm>
#include <string>
#include <vector>

#include "attn/render/picture.hpp"
#include "render/terminal_text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr int kLongestRowLabel = 24, kLongestColumnLabel = 16, kGap = 2;

/// What a table will look like: everything safe to print and cut to its column.
struct Prepared {
  std::vector<std::string> row_labels, column_labels;
  std::vector<std::vector<std::string>> cells;
  std::vector<int> widths;
  int label_width = 0;
  bool has_header = false;
};

std::string cell_of(const TextTable& table, std::size_t row, std::size_t column, int width) {
  const std::vector<std::string>& cells = table.cells[row];
  return column < cells.size() && !cells[column].empty() ? terminal_label(cells[column], width) : std::string();
}

Prepared prepare(const TextTable& table, int columns) {
  Prepared made;
  const int longest_label = std::max(1, std::min(kLongestRowLabel, columns / 3));
  for (const std::string& label : table.row_labels) {
    made.row_labels.push_back(terminal_label(label, longest_label));
    made.label_width = std::max(made.label_width, display_width(made.row_labels.back()));
  }
  made.row_labels.resize(std::max(made.row_labels.size(), table.cells.size()));
  std::size_t count = table.column_labels.size();
  for (const std::vector<std::string>& row : table.cells) count = std::max(count, row.size());
  // Narrower than the gap and a letter nothing can be shown.
  const int widest = std::max(1, columns - (made.label_width > 0 ? made.label_width + kGap : 0));
  made.cells.resize(table.cells.size());
  made.has_header = !table.column_labels.empty();
  for (std::size_t column = 0; column < count; ++column) {
    int width = 1;
    for (std::size_t row = 0; row < table.cells.size(); ++row) {
      made.cells[row].push_back(cell_of(table, row, column, widest));
      width = std::max(width, display_width(made.cells[row].back()));
    }
    const bool labelled = column < table.column_labels.size();
    made.column_labels.push_back(
        labelled ? terminal_label(table.column_labels[column], std::min(widest, std::max(width, kLongestColumnLabel))) : "");
    made.widths.push_back(std::max(width, display_width(made.column_labels.back())));
  }
  return made;
}

/// Columns [begin, end) of a table: one part of its lines.
struct Part {
  std::size_t begin = 0, end = 0;
};

std::string line_of(const Prepared& made, const std::string& label, const std::vector<std::string>& cells, Part part) {
  std::string line = pad_right(label, made.label_width);
  for (std::size_t column = part.begin; column < part.end; ++column)
    line += std::string(line.empty() ? 0 : kGap, ' ') + pad_left(cells[column], made.widths[column]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// As many columns as the line takes, at least one.
std::size_t end_of_part(const Prepared& made, std::size_t begin, int columns) {
  int used = made.label_width;
  std::size_t end = begin;
  for (; end < made.widths.size(); ++end) {
    used += (used > 0 ? kGap : 0) + made.widths[end];
    if (used > columns && end > begin) break;
  }
  return end;
}

}  // namespace

std::string table_label(std::string_view token, int columns) { return terminal_label(token, columns); }

std::string format_table(const TextTable& table, int columns) {
  columns = std::max(columns, 8);
  const Prepared made = prepare(table, columns);
  std::string text;
  if (!table.title.empty()) text += terminal_label(table.title, columns) + "\n";
  std::size_t begin = 0;
  do {
    const std::size_t end = end_of_part(made, begin, columns);
    if (begin > 0) text += "\n";
    if (made.has_header) text += line_of(made, "", made.column_labels, {begin, end});
    for (std::size_t row = 0; row < made.cells.size(); ++row)
      text += line_of(made, made.row_labels[row], made.cells[row], {begin, end});
    begin = end;
  } while (begin < made.widths.size());
  return text;
}

}  // namespace v1
}  // namespace attn
