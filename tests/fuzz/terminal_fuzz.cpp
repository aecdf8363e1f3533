// A small matrix with any labels as text for a terminal: well-formed UTF-8 in which nothing can steer the terminal but the
// colours that were asked for, and no line is wider than the terminal.
#include "fuzz/support/pictures.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

/// The text without colour codes, which are "ESC [ digits and semicolons m" and nothing else.
std::string without_colors(const std::string& text, bool colors) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      plain += text[at];
      continue;
    }
    require(colors, "a colour code that was not asked for");
    std::size_t end = at + 1;
    require(end < text.size() && text[end] == '[', "an escape that is no colour code");
    do ++end;
    while (end < text.size() && (text[end] == ';' || (text[end] >= '0' && text[end] <= '9')));
    require(end < text.size() && text[end] == 'm', "an escape that is no colour code");
    at = end;
  }
  return plain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const DrawnPicture picture(draws, 12);
  const std::string text = picture.drawn("txt");
  if (text.empty()) return 0;
  const std::string plain = without_colors(text, picture.spec.options.terminal_color != TerminalColor::plain);
  require(is_utf8(plain) && plain.back() == '\n', "text that is not UTF-8, or its last line has no end");
  for (std::size_t begin = 0; begin < plain.size();) {
    const std::size_t end = plain.find('\n', begin);
    const std::string line = plain.substr(begin, end - begin);
    require(is_printable(line), "a line that cannot be printed: " + printable(line));
    require(display_width(line) <= picture.spec.options.terminal_columns,
            concat("a line of ", display_width(line), " cells in a terminal of ", picture.spec.options.terminal_columns));
    begin = end + 1;
  }
  return 0;
}
