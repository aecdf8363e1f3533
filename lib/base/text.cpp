#include "attn/base/text.hpp"

#include <algorithm>
#include <array>

namespace attn {
inline namespace v1 {
namespace {

/// One step through a text: a code point and its bytes, or one ill-formed byte (length 1, valid false).
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
  bool valid = false;
};

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kHexDigits = "0123456789abcdef";

/// Decodes what stands at `at` by the table of well-formed sequences (Unicode 3.9, table 3-7).
CodePoint decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range shuts out overlong forms, surrogates and what lies above U+10FFFF.
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return {};
  char32_t value = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    value = (value << 6) | (byte(i) & 0x3fu);
  }
  return {value, length, true};
}

struct CodeRange {
  char32_t first, last;
};

/// What a terminal acts upon or a reader cannot see: controls, joiners, bidi marks, separators, fillers, tags.
constexpr std::array<CodeRange, 17> kHidden{{{0x00, 0x1f},
                                             {0x7f, 0x9f},
                                             {0xad, 0xad},
                                             {0x34f, 0x34f},
                                             {0x61c, 0x61c},
                                             {0x115f, 0x1160},
                                             {0x17b4, 0x17b5},
                                             {0x180b, 0x180e},
                                             {0x200b, 0x200f},
                                             {0x2028, 0x202e},
                                             {0x2060, 0x206f},
                                             {0x3164, 0x3164},
                                             {0xfeff, 0xfeff},
                                             {0xffa0, 0xffa0},
                                             {0xfff9, 0xfffb},
                                             {0x1d173, 0x1d17a},
                                             {0xe0000, 0xe0fff}}};

bool is_hidden(char32_t value) {
  return std::any_of(kHidden.begin(), kHidden.end(), [&](CodeRange r) { return value >= r.first && value <= r.last; });
}

std::string hex(char32_t value, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += kHexDigits[(value >> shift) & 0xf];
  return text;
}

std::string escape(char32_t value) {
  if (value == '\n') return "\\n";
  if (value == '\t') return "\\t";
  if (value == '\r') return "\\r";
  if (value < 0x80) return "\\x" + hex(value, 2);
  return value <= 0xffff ? "\\u" + hex(value, 4) : "\\U" + hex(value, 8);
}

}  // namespace

std::size_t utf8_error(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const CodePoint code = decode(text, at);
    if (!code.valid) return at;
    at += code.length;
  }
  return at;
}

bool is_utf8(std::string_view text) { return utf8_error(text) == text.size(); }

std::string to_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t good = utf8_error(text);
    result += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    result += kReplacement;
    text.remove_prefix(1);
  }
  return result;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] >= 0x20 && text[at] < 0x7f && result.size() < limit) {  // most of all text
      result += text[at++];
      continue;
    }
    const CodePoint code = decode(text, at);
    std::string piece(text.substr(at, code.length));
    if (!code.valid)
      piece = "\\x" + hex(static_cast<unsigned char>(text[at]), 2);
    else if (is_hidden(code.value))
      piece = escape(code.value);
    if (result.size() + piece.size() > limit) return result + "...";
    result += piece;
    at += code.length;
  }
  return result;
}

std::string printable_end(std::string_view text, std::size_t limit) {
  const std::string whole = printable(text, std::string::npos);
  if (whole.size() <= limit) return whole;
  std::size_t begin = whole.size() - limit;
  while ((static_cast<unsigned char>(whole[begin]) & 0xc0) == 0x80) ++begin;  // not within a character
  return "..." + whole.substr(begin);
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint code = decode(text, at);
    const char c = text[at];
    if (!code.valid) {
      out += kReplacement;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out += escape(code.value);
    } else if (code.value < 0x20) {
      out += "\\u" + hex(code.value, 4);
    } else {
      out += text.substr(at, code.length);
    }
    at += code.length;
  }
  out += '"';
}

}  // namespace v1
}  // namespace attn
