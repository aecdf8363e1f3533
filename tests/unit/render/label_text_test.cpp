#include "render/label_text.hpp"

#include <gtest/gtest.h>

#include "attn/base/text.hpp"

namespace attn {
namespace {

TEST(LabelText, OrdinaryTokensStayAsTheyAre) {
  for (const std::string token : {"cat", "$", "<", "&", "_", "%s%n{}", "貓", "&lt;", "a b", "ß…", "القطة"})
    EXPECT_EQ(visible_label(token), token);
}

TEST(LabelText, BlanksAndLineBreaksAreVisible) {
  EXPECT_EQ(visible_label(" cat"), "␣cat");
  EXPECT_EQ(visible_label("cat  "), "cat␣␣");
  EXPECT_EQ(visible_label(" "), "␣");
  EXPECT_EQ(visible_label("\u3000貓"), "␣貓");
  EXPECT_EQ(visible_label("\n"), "↵");
  EXPECT_EQ(visible_label("a\tb\r"), "a⇥b↵");
  EXPECT_EQ(visible_label(""), "∅");
}

TEST(LabelText, WhatXmlForbidsIsReplaced) {
  EXPECT_EQ(visible_label(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(visible_label("\x1b[2J"), "\uFFFD[2J");
  EXPECT_EQ(visible_label("\b\uFFFE\uFFFF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(visible_label("\xff\xfe"), "\uFFFD\uFFFD");
  EXPECT_EQ(visible_label("\xed\xa0\x80x").substr(0, 3), "\uFFFD");
}

TEST(LabelText, HiddenCharactersAreWrittenOut) {
  EXPECT_EQ(visible_label("\u202eabc\u200b"), "\\u202eabc\\u200b");
  EXPECT_EQ(visible_label("\ufeffx\u009b"), "\\ufeffx\\u009b");
  EXPECT_EQ(visible_label("\U000E0041"), "\\U0e0041");
}

TEST(LabelText, JoinersOfEmojiAndScriptsStay) {
  const std::string family = "👨\u200d👩\u200d👧";
  EXPECT_EQ(visible_label(family), family);
}

TEST(LabelText, LongTokensAreCutOnACodePoint) {
  EXPECT_EQ(visible_label(std::string(100'000, 'x'), 50), std::string(50, 'x') + "…");
  std::string cats;
  for (int i = 0; i < 1000; ++i) cats += "貓";
  const std::string cut = visible_label(cats, 7);
  EXPECT_EQ(cut, "貓貓貓貓貓貓貓…");
  EXPECT_TRUE(is_utf8(cut));
}

TEST(LabelText, CodePointsRoundTrip) {
  for (const char32_t c : {U'a', U'\u00e9', U'\u8c93', U'\U0001F600', U'\U0010FFFF'}) {
    std::string text;
    append_code_point(text, c);
    std::size_t at = 0;
    EXPECT_EQ(next_code_point(text, at), c);
    EXPECT_EQ(at, text.size());
  }
}

using Labels = std::vector<std::string>;

TEST(Prettify, ByteLevelTokensAreDecoded) {
  EXPECT_EQ(prettify_labels({"The", "Ġcat", "Ċ", "ĠĠ", "æĹ¥", "don't"}), (Labels{"The", "cat", "\n", " ", "日", "don't"}));
}

TEST(Prettify, PartsOfCharactersShowTheirBytes) { EXPECT_EQ(prettify_labels({"Ġa", "æĹ"}), (Labels{"a", "\\xe6\\x97"})); }

TEST(Prettify, SentencePieceAndWordPiece) {
  EXPECT_EQ(prettify_labels({"▁The", "▁", "cat▁is", "é"}), (Labels{"The", " ", "cat is", "é"}));
  EXPECT_EQ(prettify_labels({"cute", "##ness", "##", "###"}), (Labels{"cute", "-ness", "##", "###"}));
}

TEST(Prettify, TextWithoutMarksStays) { EXPECT_EQ(prettify_labels({"naïve", "貓", ""}), (Labels{"naïve", "貓", ""})); }

TEST(LabelText, WithoutTokensTheIndexIsShown) {
  EXPECT_EQ(shown_label({}, 41), "41");
  EXPECT_EQ(shown_label({"a", " b"}, 1), "␣b");
}

}  // namespace
}  // namespace attn
