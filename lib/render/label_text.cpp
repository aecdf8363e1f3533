#include "render/label_text.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

struct CodeRange {
  char32_t first, last;
};

/// Format characters that a reader cannot see, or that turn the text around them. U+200C, U+200D and the variation
/// selectors stay: words and emoji are spelt with them.
constexpr std::array<CodeRange, 12> kInvisible = {{{0xad, 0xad},
                                                   {0x61c, 0x61c},
                                                   {0x180e, 0x180e},
                                                   {0x200b, 0x200b},
                                                   {0x200e, 0x200f},
                                                   {0x2028, 0x202e},
                                                   {0x2060, 0x206f},
                                                   {0xfeff, 0xfeff},
                                                   {0xfff9, 0xfffb},
                                                   {0x1d173, 0x1d17a},
                                                   {0xe0000, 0xe0fff},
                                                   {0x7f, 0x9f}}};

bool is_invisible(char32_t c) {
  return std::any_of(kInvisible.begin(), kInvisible.end(), [c](CodeRange r) { return c >= r.first && c <= r.last; });
}

bool is_forbidden_in_xml(char32_t c) {
  if (c < 0x20) return c != '\t' && c != '\n' && c != '\r';
  return (c & 0xfffe) == 0xfffe;
}

bool is_blank(char32_t c) {
  return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

void append_escape(std::string& text, char32_t c) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  text += c > 0xffff ? "\\U" : "\\u";
  for (int shift = c > 0xffff ? 20 : 12; shift >= 0; shift -= 4) text += kHex[(c >> shift) & 15];
}

std::u32string code_points(std::string_view utf8) {
  std::u32string points;
  for (std::size_t at = 0; at < utf8.size();) points += next_code_point(utf8, at);
  return points;
}

std::string from_code_points(std::u32string_view points) {
  std::string text;
  for (const char32_t c : points) append_code_point(text, c);
  return text;
}

/// GPT-2's byte-level alphabet: printable bytes stand for themselves, the others for U+0100, U+0101, ... in order.
std::optional<unsigned char> byte_of(char32_t c) {
  if ((c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff)) return static_cast<unsigned char>(c);
  if (c >= 0x100 && c <= 0x120) return static_cast<unsigned char>(c - 0x100);
  if (c >= 0x121 && c <= 0x142) return static_cast<unsigned char>(c - 0x121 + 0x7f);
  if (c == 0x143) return static_cast<unsigned char>(0xad);
  return std::nullopt;
}

/// The text behind a byte-level token, or nothing if it is no such token. A token may hold a part of a character only:
/// its bytes are written out.
std::optional<std::string> decode_bytes(const std::string& token) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string bytes;
  for (const char32_t c : code_points(to_utf8(token))) {
    const std::optional<unsigned char> byte = byte_of(c);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  std::string text;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t whole = utf8_error(rest);
    text += rest.substr(0, whole);
    if (whole == rest.size()) break;
    const auto broken = static_cast<unsigned char>(rest[whole]);
    text += "\\x";
    text += kHex[broken >> 4];
    text += kHex[broken & 15];
    rest.remove_prefix(whole + 1);
  }
  return text;
}

std::string without_word_start(std::string text, std::string_view mark) {
  if (text.size() > mark.size() && text.compare(0, mark.size(), mark) == 0) text.erase(0, mark.size());
  return text;
}

}  // namespace

char32_t next_code_point(std::string_view utf8, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return i < utf8.size() ? static_cast<unsigned char>(utf8[i]) : 0u; };
  const unsigned lead = byte(at);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t c = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) c = (c << 6) | (byte(at + i) & 0x3f);
  at = std::min(at + length, utf8.size());
  return c;
}

void append_code_point(std::string& utf8, char32_t c) {
  const auto tail = [&](int shift) { utf8 += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    utf8 += static_cast<char>(c);
  } else if (c < 0x800) {
    utf8 += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    utf8 += static_cast<char>(0xe0 | (c >> 12));
    tail(6), tail(0);
  } else {
    utf8 += static_cast<char>(0xf0 | (c >> 18));
    tail(12), tail(6), tail(0);
  }
}

std::string visible_label(std::string_view token, std::size_t limit) {
  if (token.empty()) return "∅";
  // A code point has at most 4 bytes: what lies behind them is cut in any case, so it need not be looked at.
  const bool long_token = token.size() > 4 * limit + 4;
  std::u32string points = code_points(to_utf8(token.substr(0, 4 * limit + 4)));
  const bool cut = long_token || points.size() > limit;
  if (points.size() > limit) points.resize(limit);
  std::size_t first = 0, last = points.size();
  while (first < last && is_blank(points[first])) ++first;
  while (last > first && is_blank(points[last - 1])) --last;
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const char32_t c = points[i];
    if (is_forbidden_in_xml(c))
      text += "\uFFFD";
    else if (c == '\n' || c == '\r')
      text += "↵";
    else if (c == '\t')
      text += "⇥";
    else if (is_invisible(c))
      append_escape(text, c);
    else if (is_blank(c) && (i < first || i >= last))
      text += "␣";
    else
      append_code_point(text, c);
  }
  if (cut) text += "…";
  return text;
}

std::vector<std::string> prettify_labels(const std::vector<std::string>& tokens) {
  const auto has_byte_mark = [](const std::string& token) {
    return token.find("Ġ") != std::string::npos || token.find("Ċ") != std::string::npos;
  };
  const bool byte_level = std::any_of(tokens.begin(), tokens.end(), has_byte_mark);
  std::vector<std::string> pretty;
  pretty.reserve(tokens.size());
  for (const std::string& token : tokens) {
    const std::optional<std::string> decoded = byte_level ? decode_bytes(token) : std::nullopt;
    if (decoded) {
      pretty.push_back(without_word_start(*decoded, " "));
    } else if (token.size() > 2 && token.compare(0, 2, "##") == 0 && token[2] != '#') {
      pretty.push_back(std::string(token).replace(0, 2, "-"));
    } else {
      std::u32string points = code_points(to_utf8(without_word_start(token, "▁")));
      std::replace(points.begin(), points.end(), char32_t{0x2581}, char32_t{' '});
      pretty.push_back(from_code_points(points));
    }
  }
  return pretty;
}

std::string shown_label(const std::vector<std::string>& tokens, std::size_t index) {
  return tokens.empty() ? std::to_string(index) : visible_label(tokens.at(index));
}

}  // namespace v1
}  // namespace attn
