#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "picture_support.hpp"
#include "render/terminal_text.hpp"

namespace attn {
namespace {

using test::Matrix;
using test::render;
using test::spec_of;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The text without its colour switches, which must be the only escapes in it.
std::string without_colors(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      plain += text[at];
      continue;
    }
    EXPECT_EQ(text[at + 1], '[');
    at += 2;
    while (at < text.size() && (text[at] == ';' || (text[at] >= '0' && text[at] <= '9'))) ++at;
    EXPECT_EQ(text[at], 'm');
  }
  return plain;
}

void expect_safe_and_narrow(const std::string& text, int columns) {
  for (const std::string& line : lines_of(without_colors(text))) {
    EXPECT_LE(display_width(line), columns) << line;
    for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << line;
    EXPECT_EQ(line.find("\u202e"), std::string::npos);
    EXPECT_EQ(line.find("\u009b"), std::string::npos);
  }
}

TEST(Terminal, NotesAreBrokenIntoLinesAndNotCut) {
  PictureSpec spec = spec_of(Shape{800, 800});
  spec.options.terminal_columns = 20;
  const std::string text = render("txt", spec, Matrix::of(800, 800, [](Index, Index) { return 0.5; }));
  EXPECT_NE(text.find("1 cell = max of\n"), std::string::npos) << text.substr(text.size() - 200);
  EXPECT_EQ(text.substr(text.find("1 cell")).find("…"), std::string::npos);
}

TEST(DisplayWidth, CountsCells) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("cat"), 3);
  EXPECT_EQ(display_width("貓"), 2);
  EXPECT_EQ(display_width("這隻貓 ok"), 9);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("😀"), 2);
  EXPECT_EQ(display_width("👨\u200d👩\u200d👧"), 2);
  EXPECT_EQ(display_width("👍🏽"), 2);
  EXPECT_EQ(display_width("🇫🇷"), 2);
  EXPECT_EQ(display_width("❤\ufe0f"), 2);
  EXPECT_EQ(display_width("ｆ"), 2);
  EXPECT_EQ(display_width("한"), 2);
  EXPECT_EQ(display_width("\u1112\u1161\u11ab"), 2);  // the same syllable in parts
  EXPECT_EQ(display_width("नि"), 2);
}

TEST(TerminalText, CutsBetweenGraphemes) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdef", 4), "abc…");
  EXPECT_EQ(cut_to_width("貓貓貓", 5), "貓貓…");
  EXPECT_EQ(cut_to_width("貓貓貓", 4), "貓…");
  EXPECT_EQ(cut_to_width("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(TerminalText, LabelsAreSafeToPrint) {
  EXPECT_EQ(terminal_label("\x1b[2J", 20), "\\x1b[2J");
  EXPECT_EQ(terminal_label("\u202eabc\u200b\ufeff", 40), "\\u202eabc\\u200b\\ufeff");
  EXPECT_EQ(terminal_label(" a ", 10), "␣a␣");
  EXPECT_EQ(terminal_label("", 10), "∅");
  EXPECT_EQ(terminal_label("a\nb", 10), "a\\nb");
}

TEST(TerminalText, NearestColorsOfThePalette) {
  EXPECT_EQ(palette_index({0, 0, 0}), 16);
  EXPECT_EQ(palette_index({255, 255, 255}), 231);
  EXPECT_EQ(palette_index({255, 0, 0}), 196);
  EXPECT_EQ(palette_index({8, 8, 8}), 232);
  EXPECT_EQ(palette_index({128, 128, 128}), 244);
}

PictureSpec cat_spec() {
  PictureSpec spec = spec_of(Shape{4, 4});
  spec.layers[0].labels.query_tokens = spec.layers[0].labels.key_tokens = {"The", "貓", "is", "cute"};
  return spec;
}

const Matrix kCat{
    4, 4, {1, 0, 0, 0, 0.377541, 0.622459, 0, 0, 0.274069, 0.274069, 0.451863, 0, 0.215113, 0.215113, 0.215113, 0.354661}};

TEST(Terminal, SmallMatricesShowTheirNumbers) {
  const test::CausalVisibility causal(4);
  PictureSpec spec = cat_spec();
  spec.layers[0].visibility = &causal;
  EXPECT_EQ(render("txt", spec, kCat),
            "       The    貓    is  cute\n"
            " The  1.00     ·     ·     ·\n"
            "  貓  0.38  0.62     ·     ·\n"
            "  is  0.27  0.27  0.45     ·\n"
            "cute  0.22  0.22  0.22  0.35\n"
            "\n"
            "0      ░░░░░▒▒▒▒▓▓▓▓▓█████ 1 attention weight\n"
            "rows: queries   columns: keys   · blocked\n");
}

TEST(Terminal, ColorsAreThoseOfTheMap) {
  PictureSpec spec = cat_spec();
  spec.options.terminal_color = TerminalColor::truecolor;
  const std::string text = render("txt", spec, kCat);
  EXPECT_NE(text.find("\x1b[48;2;253;231;37m\x1b[38;2;0;0;0m 1.00"), std::string::npos);
  EXPECT_NE(text.find("\x1b[48;2;68;1;84m\x1b[38;2;255;255;255m 0.00"), std::string::npos);
  spec.options.terminal_color = TerminalColor::palette256;
  EXPECT_NE(render("txt", spec, kCat).find("\x1b[48;5;" + std::to_string(palette_index({253, 231, 37})) + "m"),
            std::string::npos);
  spec.options.terminal_color = TerminalColor::plain;
  EXPECT_EQ(render("txt", spec, kCat).find('\x1b'), std::string::npos);
}

TEST(Terminal, EveryLineEndsWithoutColor) {
  for (const Index n : {4, 30, 300}) {
    PictureSpec spec = spec_of(Shape{n, n});
    spec.options.terminal_color = TerminalColor::truecolor;
    const std::string text =
        render("txt", spec, Matrix::of(n, n, [](Index i, Index j) { return static_cast<double>(i * j % 7); }));
    for (const std::string& line : lines_of(text)) {
      const std::size_t last = line.rfind("\x1b[");
      if (last == std::string::npos) continue;
      EXPECT_EQ(line.substr(last, 4), "\x1b[0m");
    }
  }
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  const std::vector<std::string> hostile = {"</script><img src=x onerror=alert(1)>",
                                            "\x1b[2J\x1b]0;x\x07",
                                            "\u202eabc\u200b",
                                            "👨\u200d👩\u200d👧\u200d👦",
                                            std::string(200, 'x'),
                                            "",
                                            "\n",
                                            "這隻貓很可愛",
                                            "e\u0301",
                                            "\u009b\x7f"};
  for (const int columns : {8, 20, 40, 80, 200})
    for (const TerminalColor color : {TerminalColor::plain, TerminalColor::truecolor})
      for (const auto& [n, m] : {std::pair<Index, Index>{10, 10}, {1, 5000}, {700, 3}, {120, 120}, {1, 1}})
        for (const Annotate annotate : {Annotate::automatic, Annotate::never, Annotate::always}) {
          if (annotate == Annotate::always && n * m > 3000) continue;
          PictureSpec spec = spec_of(Shape{n, m});
          if (n == 10) spec.layers[0].labels = {hostile, hostile};
          spec.options.title = "A title that is much longer than a narrow terminal is wide \x1b[31m";
          spec.options.terminal_columns = columns;
          spec.options.terminal_color = color;
          spec.options.annotate = annotate;
          expect_safe_and_narrow(
              render("txt", spec, Matrix::of(n, m, [](Index i, Index j) { return std::sin(static_cast<double>(i + 3 * j)); })),
              columns);
        }
}

TEST(Terminal, LargeMatricesArePooledAndSaySo) {
  PictureSpec spec = spec_of(Shape{2000, 2000});
  const Matrix matrix = Matrix::of(2000, 2000, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
  const std::string text = render("txt", spec, matrix, 64);
  EXPECT_NE(text.find("1 cell = max of 42×42"), std::string::npos) << text;
  std::size_t row = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.find("█") == std::string::npos || row >= 48) continue;
    EXPECT_EQ(display_width(line), 6 + static_cast<int>(row)) << line;  // "NNNN " and the diagonal
    ++row;
  }
  EXPECT_EQ(row, 48u);
}

TEST(Terminal, HalfBlocksHoldTwoRows) {
  PictureSpec spec = spec_of(Shape{100, 100});
  spec.options.terminal_color = TerminalColor::truecolor;
  spec.options.terminal_columns = 120;
  const std::string text =
      without_colors(render("txt", spec, Matrix::of(100, 100, [](Index i, Index) { return static_cast<double>(i % 2); })));
  EXPECT_NE(text.find("1 cell = max of 2×2"), std::string::npos);
  spec = spec_of(Shape{90, 100});
  spec.options.terminal_color = TerminalColor::truecolor;
  spec.options.terminal_columns = 120;
  const std::string colored = render("txt", spec, Matrix::of(90, 100, [](Index i, Index) { return static_cast<double>(i % 2); }));
  EXPECT_NE(colored.find("\x1b[38;2;68;1;84m\x1b[48;2;253;231;37m▀▀▀"), std::string::npos);
}

TEST(Terminal, StatesHaveMarks) {
  Matrix matrix = kCat;
  matrix.values[13] = std::nan("");
  const test::CausalVisibility causal(4, 1);
  PictureSpec spec = cat_spec();
  spec.layers[0].visibility = &causal;
  const std::string text = render("txt", spec, matrix);
  EXPECT_NE(text.find("  貓     -     -     -     -\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cute  0.22   NaN  0.22  0.35\n"), std::string::npos) << text;
  EXPECT_NE(text.find("· blocked   - empty row   ? NaN"), std::string::npos);
}

TEST(Terminal, HeadsComeOneAfterTheOther) {
  const PictureSpec spec = spec_of(Shape{2, 2, 2});
  const std::string text = render("txt", spec, Matrix{4, 2, {1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75}});
  EXPECT_LT(text.find("head 0\n"), text.find("head 1\n"));
  EXPECT_NE(text.find("1  0.25  0.75\n"), std::string::npos) << text;
}

TEST(TextTable, AlignsAndSplits) {
  const TextTable table{"Scores", {"The", "cat"}, {"q0", "貓"}, {{"1.5", "-2"}, {"0.25", "10"}}};
  EXPECT_EQ(format_table(table, 80),
            "Scores\n"
            "     The  cat\n"
            "q0   1.5   -2\n"
            "貓  0.25   10\n");
  EXPECT_EQ(format_table(table, 12),
            "Scores\n"
            "     The\n"
            "q0   1.5\n"
            "貓  0.25\n"
            "\n"
            "    cat\n"
            "q0   -2\n"
            "貓   10\n");
}

TEST(TextTable, TakesTablesWithoutLabels) {
  EXPECT_EQ(format_table({"", {}, {}, {{"1", "22"}, {"333", "4"}}}, 80), "  1  22\n333   4\n");
  EXPECT_EQ(format_table({"only a title", {}, {}, {}}, 80), "only a title\n");
}

TEST(TextTable, StaysNarrowAndSafe) {
  TextTable table{"\x1b[2Jtitle",
                  {"\u202ea", std::string(300, 'y')},
                  {"\x07", std::string(300, 'x')},
                  {{std::string(300, 'z'), "1"}, {"貓貓貓貓貓貓貓貓", "2"}}};
  for (const int columns : {8, 13, 40, 80}) expect_safe_and_narrow(format_table(table, columns), columns);
}

}  // namespace
}  // namespace attn
