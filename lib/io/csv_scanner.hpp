#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/text_window.hpp"

namespace attn {
inline namespace v1 {

/// One cell of delimited text.
struct CsvCell {
  std::string text;  ///< without its quotes; blanks around it are kept
  bool quoted = false;
  std::uint64_t line = 1;  ///< where it begins
  Index column = 1;        ///< counted in cells
};

/// Cuts delimited text into lines and cells (RFC 4180; LF, CRLF or CR end a line). With a blank as the delimiter, runs of
/// blanks and tabs are one delimiter and do not count at the ends of a line. Faults are `malformed` with line and cell.
class CsvScanner {
 public:
  CsvScanner(TextWindow& window, char delimiter) : window_(window), delimiter_(delimiter) {}

  /// Goes to the next line; false at the end of the file. Throws for a blank line that has another line after it.
  bool begin_line();
  /// Takes the next cell if it is a plain number; else false, and `cell` must take it.
  bool number(double& value);
  /// Takes the next cell whatever it is.
  void cell(CsvCell& cell);
  /// Whether the cell that was taken last ended its line.
  bool line_ended() const { return line_ended_; }
  /// The line of the cell to come.
  std::uint64_t line() const { return line_; }

  /// "v.csv:3:2: ", or without the cell if `column` is 0.
  std::string place(std::uint64_t line, Index column = 0) const;

 private:
  bool is_space(char c) const { return c == ' ' || (c == '\t' && delimiter_ != '\t'); }
  std::size_t spaces_from(std::size_t from);
  bool end_cell(std::size_t length);
  std::size_t line_end_length(std::size_t from);
  void quoted_text(CsvCell& cell);
  void plain_text(CsvCell& cell);
  void check_length(std::size_t length, const CsvCell& cell) const;

  TextWindow& window_;
  char delimiter_;
  bool line_ended_ = true;
  std::uint64_t line_ = 1;
  Index column_ = 1;  // of the cell to come
};

/// The delimiter of a text by its beginning: the one of , ; tab and blank that cuts the lines into equally many cells.
char detect_delimiter(std::string_view sample);

/// Whether a first cell says that this tool wrote the file.
bool is_axis_name(std::string_view cell);

/// Without blanks at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace v1
}  // namespace attn
