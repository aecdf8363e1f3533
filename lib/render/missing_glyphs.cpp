#include "render/missing_glyphs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attn {
inline namespace v1 {
namespace {

struct Script {
  char32_t first, last;
  std::string_view package;
};

constexpr std::string_view kCjk = "fonts-noto-cjk", kEmoji = "fonts-noto-color-emoji", kOther = "fonts-noto-core";

/// What is not listed is in fonts-noto-core, which has most of the world's scripts; "" where no font can be named.
constexpr std::array<Script, 16> kScripts = {{{0x1100, 0x11ff, kCjk},
                                              {0x2600, 0x27bf, kEmoji},
                                              {0x2e80, 0x33ff, kCjk},
                                              {0x3400, 0x4dbf, kCjk},
                                              {0x4e00, 0x9fff, kCjk},
                                              {0xa960, 0xa97f, kCjk},
                                              {0xac00, 0xd7ff, kCjk},
                                              {0xe000, 0xf8ff, ""},
                                              {0xf900, 0xfaff, kCjk},
                                              {0xfe30, 0xfe4f, kCjk},
                                              {0xff00, 0xffef, kCjk},
                                              {0x1b000, 0x1b16f, kCjk},
                                              {0x1f000, 0x1f2ff, kEmoji},
                                              {0x1f300, 0x1faff, kEmoji},
                                              {0x20000, 0x323af, kCjk},
                                              {0xf0000, 0x10ffff, ""}}};

std::string_view package_of(char32_t c) {
  const auto found = std::find_if(kScripts.begin(), kScripts.end(), [c](const Script& s) { return c >= s.first && c <= s.last; });
  return found == kScripts.end() ? kOther : found->package;
}

std::string code_name(char32_t c) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (char32_t rest = c; rest != 0 || name.size() < 4; rest >>= 4) name.insert(name.begin(), kHex[rest & 15]);
  return "U+" + name;
}

std::string note_for(std::string_view package, const std::set<char32_t>& missing) {
  constexpr std::size_t kNamed = 5;
  std::string codes;
  std::size_t count = 0;
  for (const char32_t c : missing) {
    if (package_of(c) != package) continue;
    if (count < kNamed) codes += (count > 0 ? ", " : "") + code_name(c);
    ++count;
  }
  if (count == 0) return {};
  if (count > kNamed) codes += " and " + std::to_string(count - kNamed) + " more";
  const std::string what = "no font has " + codes + "; the picture shows boxes";
  return package.empty() ? what + " (private use: --font names a font that has them)"
                         : what + "; apt-get install " + std::string(package);
}

}  // namespace

std::vector<std::string> missing_glyph_notes(const std::set<char32_t>& missing) {
  std::vector<std::string> notes;
  for (const std::string_view package : {kCjk, kEmoji, kOther, std::string_view()}) {
    std::string note = note_for(package, missing);
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace v1
}  // namespace attn
