#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "attn/base/text.hpp"
#include "io/csv_scanner.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::array<char, 4> kDelimiters{',', ';', '\t', ' '};
constexpr std::size_t kSampleLines = 20;

/// The first lines of a text; a line end inside quotes ends none. The last line may be cut off and then counts only if it
/// is the only one.
std::vector<std::string_view> sample_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size() && lines.size() < kSampleLines; ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (quoted || (text[at] != '\n' && text[at] != '\r')) continue;
    if (at > begin) lines.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  if (lines.empty()) lines.push_back(text);
  return lines;
}

std::vector<std::string_view> split(std::string_view line, char delimiter) {
  std::vector<std::string_view> cells;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= line.size(); ++at) {
    if (at < line.size() && line[at] == '"') quoted = !quoted;
    const bool ends = at == line.size() || (!quoted && (line[at] == delimiter || (delimiter == ' ' && line[at] == '\t')));
    if (!ends) continue;
    // A run of blanks is one delimiter.
    if (delimiter != ' ' || at > begin) cells.push_back(line.substr(begin, at - begin));
    begin = at + 1;
  }
  return cells;
}

bool is_number(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = trimmed(cell.substr(1, cell.size() - 2));
  double value = 0;
  return parse_number(cell, value) != NumberStatus::not_a_number;
}

/// Whether all lines have the same number of cells, over one, and the last one ends in a number.
bool makes_a_grid(const std::vector<std::string_view>& lines, char delimiter) {
  const std::size_t width = split(lines.front(), delimiter).size();
  const bool even =
      std::all_of(lines.begin(), lines.end(), [&](std::string_view line) { return split(line, delimiter).size() == width; });
  return width > 1 && even && is_number(split(lines.back(), delimiter).back());
}

/// Another delimiter is seldom text: beside it, a blank groups the digits of 1 000.
bool has_only_blanks(const std::vector<std::string_view>& lines) {
  return std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    return std::all_of(kDelimiters.begin(), kDelimiters.end() - 1,
                       [&](char other) { return split(trimmed(line), other).size() == 1; });
  });
}

}  // namespace

bool is_axis_name(std::string_view cell) {
  static constexpr std::array<std::string_view, 4> kNames{"batch", "head", "query", "key"};
  return std::find(kNames.begin(), kNames.end(), cell) != kNames.end();
}

char detect_delimiter(std::string_view sample) {
  // Tokens may hold any delimiter; behind the first word of a file of ours stands the true one.
  const std::size_t word = std::min(sample.find_first_of(",;\t \r\n"), sample.size());
  if (is_axis_name(sample.substr(0, word)) && word < sample.size() && sample[word] != '\r' && sample[word] != '\n')
    return sample[word];
  const std::vector<std::string_view> lines = sample_lines(sample);
  for (const char delimiter : kDelimiters)
    if ((delimiter != ' ' || has_only_blanks(lines)) && makes_a_grid(lines, delimiter)) return delimiter;
  for (const char delimiter : kDelimiters)
    if (split(trimmed(lines.front()), delimiter).size() > 1) return delimiter;
  return ',';
}

}  // namespace v1
}  // namespace attn
