#include "io/csv_scanner.hpp"

#include <charconv>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// More than any number has that was not written to be long.
constexpr std::size_t kUsualCell = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

/// How many blanks stand from `from` on, counted from `next`.
std::size_t CsvScanner::spaces_from(std::size_t from) {
  std::size_t length = from;
  while (window_.ensure(length + 1) && is_space(window_.next[length])) {
    if (++length - from > kLongestToken)
      fail(ErrorKind::memory, place(line_, column_), "over ", format_bytes(kLongestToken), " of blanks");
  }
  return length - from;
}

/// The length of a line end at next + from: 0 if none is there.
std::size_t CsvScanner::line_end_length(std::size_t from) {
  if (!window_.ensure(from + 1)) return 0;
  if (window_.next[from] == '\n') return 1;
  if (window_.next[from] != '\r') return 0;
  return window_.ensure(from + 2) && window_.next[from + 1] == '\n' ? 2 : 1;
}

bool CsvScanner::begin_line() {
  std::uint64_t blank_line = 0;
  while (true) {
    const std::size_t spaces = spaces_from(0);
    if (!window_.ensure(spaces + 1)) return false;
    const std::size_t line_end = line_end_length(spaces);
    if (line_end == 0) {
      if (blank_line != 0) fail(ErrorKind::malformed, place(blank_line, 1), "blank line");
      if (delimiter_ == ' ') window_.next += spaces;
      break;
    }
    if (blank_line == 0) blank_line = line_;
    window_.next += spaces + line_end;
    ++line_;
  }
  line_ended_ = false;
  column_ = 1;
  return true;
}

/// Steps over a cell of `length` bytes and what ends it; false if something else follows.
bool CsvScanner::end_cell(std::size_t length) {
  const std::size_t spaces = delimiter_ == ' ' ? spaces_from(length) : 0;
  const std::size_t total = length + spaces;
  if (!window_.ensure(total + 1)) {
    window_.next += total;
    line_ended_ = true;
    return true;
  }
  if (delimiter_ != ' ' && window_.next[total] == delimiter_) {
    window_.next += total + 1;
  } else if (const std::size_t line_end = line_end_length(total); line_end > 0) {
    window_.next += total + line_end;
    line_ended_ = true;
    ++line_;
  } else if (spaces > 0) {
    window_.next += total;
  } else {
    return false;
  }
  ++column_;
  return true;
}

bool CsvScanner::number(double& value) {
  window_.ensure(kUsualCell);
  const char* start = window_.next;
  while (start != window_.end && is_space(*start)) ++start;
  const char* first = start;
  if (first != window_.end && *first == '-') ++first;
  if (first == window_.end || !(is_digit(*first) || *first == '.')) return false;
  const auto [stop, error] = std::from_chars(start, window_.end, value);
  // At the end of the window more digits may follow; what is out of range or no number is for the careful way.
  if (error != std::errc() || window_.end - stop < 2) return false;
  const char* after = stop;
  if (*after == delimiter_ && delimiter_ != ' ') {
    window_.next = after + 1;
    ++column_;
    return true;
  }
  if (delimiter_ != ' ')
    while (window_.end - after > 2 && is_space(*after)) ++after;
  return end_cell(static_cast<std::size_t>(after - window_.next));
}

void CsvScanner::cell(CsvCell& cell) {
  cell.text.clear();
  cell.line = line_;
  cell.column = column_;
  cell.quoted = window_.ensure(1) && *window_.next == '"';
  if (cell.quoted)
    quoted_text(cell);
  else
    plain_text(cell);
}

void CsvScanner::plain_text(CsvCell& cell) {
  std::size_t length = 0;
  const auto ends = [this](char c) { return c == delimiter_ || c == '\n' || c == '\r' || (delimiter_ == ' ' && c == '\t'); };
  for (; window_.ensure(length + 1) && !ends(window_.next[length]); ++length) {
    if (window_.next[length] == '\0') fail(ErrorKind::malformed, place(cell.line, cell.column), "a NUL byte, expected text");
    check_length(length, cell);
  }
  cell.text.assign(window_.next, length);
  end_cell(length);
}

void CsvScanner::quoted_text(CsvCell& cell) {
  std::size_t length = 1;
  for (;; ++length) {
    if (!window_.ensure(length + 1)) fail(ErrorKind::malformed, place(cell.line, cell.column), "this quote is never closed");
    const char c = window_.next[length];
    if (c == '"') {
      if (!window_.ensure(length + 2) || window_.next[length + 1] != '"') break;
      ++length;
    } else if (c == '\n' || (c == '\r' && !(window_.ensure(length + 2) && window_.next[length + 1] == '\n'))) {
      ++line_;
    }
    cell.text += c;
    check_length(length, cell);
  }
  ++length;
  if (delimiter_ != ' ') length += spaces_from(length);
  if (!end_cell(length))
    fail(ErrorKind::malformed, place(cell.line, cell.column), "text after the closing quote; a quote inside a cell is doubled");
}

void CsvScanner::check_length(std::size_t length, const CsvCell& cell) const {
  if (length > kLongestToken)
    fail(ErrorKind::memory, place(cell.line, cell.column), "a cell of over ", format_bytes(kLongestToken));
}

std::string CsvScanner::place(std::uint64_t line, Index column) const {
  return column == 0 ? concat(window_.name(), ":", line, ": ") : concat(window_.name(), ":", line, ":", column, ": ");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace v1
}  // namespace attn
