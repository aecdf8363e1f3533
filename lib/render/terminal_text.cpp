#include "render/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/display_width_tables.hpp"
#include "render/label_text.hpp"

namespace attn {
inline namespace v1 {
namespace {

bool is_in(std::span<const WidthRange> ranges, char32_t c) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c, [](char32_t x, const WidthRange& r) { return x < r.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

constexpr char32_t kJoiner = 0x200d, kEmojiStyle = 0xfe0f;

bool is_regional(char32_t c) { return c >= 0x1f1e6 && c <= 0x1f1ff; }
bool is_skin_tone(char32_t c) { return c >= 0x1f3fb && c <= 0x1f3ff; }

int width_of(char32_t c) {
  if (c >= 0x20 && c < 0x7f) return 1;  // most of all text, without a search
  return c == 0 || is_in(zero_width_ranges(), c) ? 0 : is_in(wide_ranges(), c) ? 2 : 1;
}

/// Steps over one character as a reader sees it: a base with its marks, an emoji sequence, a flag.
int next_cluster(std::string_view text, std::size_t& at) {
  char32_t last = next_code_point(text, at);
  int width = is_regional(last) ? 1 : width_of(last);
  bool flag_open = is_regional(last);
  while (at < text.size()) {
    std::size_t ahead = at;
    const char32_t c = next_code_point(text, ahead);
    const bool joined = last == kJoiner && width == 2;
    const bool flag = flag_open && is_regional(c);
    if (width_of(c) > 0 && !joined && !flag && !(is_skin_tone(c) && width == 2)) break;
    if (c == kEmojiStyle || flag) width = std::max(width, 2);
    flag_open = false;
    last = c;
    at = ahead;
  }
  return width;
}

std::string number(int value) { return std::to_string(value); }

int cube_level(std::uint8_t channel) { return channel < 48 ? 0 : channel < 115 ? 1 : (channel - 35) / 40; }

int distance(Rgb a, Rgb b) {
  const auto square = [](int x) { return x * x; };
  return square(a.red - b.red) + square(a.green - b.green) + square(a.blue - b.blue);
}

std::string color_code(int layer, Rgb rgb, TerminalColor color) {
  if (color == TerminalColor::plain) return {};
  if (color == TerminalColor::palette256) return concat("\x1b[", layer, ";5;", palette_index(rgb), "m");
  return concat("\x1b[", layer, ";2;", number(rgb.red), ";", number(rgb.green), ";", number(rgb.blue), "m");
}

}  // namespace

int display_width(std::string_view utf8) {
  const std::string text = to_utf8(utf8);
  int width = 0;
  for (std::size_t at = 0; at < text.size();) width += next_cluster(text, at);
  return width;
}

std::string cut_to_width(std::string_view text, int cells) {
  int width = 0;
  std::size_t fits = 0;  // end of what leaves a cell for the ellipsis
  for (std::size_t at = 0; at < text.size();) {
    width += next_cluster(text, at);
    if (width <= cells - 1) fits = at;
    if (width > cells) return cells > 0 ? std::string(text.substr(0, fits)) + "…" : std::string();
  }
  return std::string(text);
}

std::string terminal_label(std::string_view token, int cells) {
  if (token.empty()) return "∅";
  // Four bytes a cell are plenty for any script; what is longer is cut anyway.
  std::string text = printable(token, static_cast<std::size_t>(std::max(16, cells)) * 16);
  std::size_t first = 0, last = text.size();
  while (first < last && text[first] == ' ') ++first;
  while (last > first && text[last - 1] == ' ') --last;
  std::string marked;
  for (std::size_t i = 0; i < first; ++i) marked += "␣";
  marked += text.substr(first, last - first);
  for (std::size_t i = last; i < text.size(); ++i) marked += "␣";
  return cut_to_width(marked, cells);
}

std::string pad_left(std::string_view text, int cells) {
  return std::string(static_cast<std::size_t>(std::max(0, cells - display_width(text))), ' ') + std::string(text);
}

std::string pad_right(std::string_view text, int cells) {
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(0, cells - display_width(text))), ' ');
}

int palette_index(Rgb color) {
  constexpr std::array<std::uint8_t, 6> kLevels = {0, 95, 135, 175, 215, 255};
  const int red = cube_level(color.red), green = cube_level(color.green), blue = cube_level(color.blue);
  const Rgb cube{kLevels[static_cast<std::size_t>(red)], kLevels[static_cast<std::size_t>(green)],
                 kLevels[static_cast<std::size_t>(blue)]};
  const int step = std::clamp((color.red + color.green + color.blue - 3 * 3) / 30, 0, 23);
  const auto level = static_cast<std::uint8_t>(8 + 10 * step);
  const Rgb grey{level, level, level};
  return distance(color, grey) < distance(color, cube) ? 232 + step : 16 + 36 * red + 6 * green + blue;
}

std::string foreground_code(Rgb rgb, TerminalColor color) { return color_code(38, rgb, color); }
std::string background_code(Rgb rgb, TerminalColor color) { return color_code(48, rgb, color); }
std::string reset_code(TerminalColor color) { return color == TerminalColor::plain ? "" : "\x1b[0m"; }

std::string on_ground(std::string_view text, Rgb ground, TerminalColor color) {
  return concat(background_code(ground, color), foreground_code(contrasting(ground), color), text, reset_code(color));
}

}  // namespace v1
}  // namespace attn
