#include "attn/base/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace attn {
namespace {

std::string json_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(Utf8, WellFormedTexts) {
  for (const auto* text : {"", "The cat", "猫", "é", "😀", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80", "\x7f"})
    EXPECT_TRUE(is_utf8(text)) << text;
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Utf8, IllFormedTextsAndWhere) {
  struct Case {
    std::string text;
    std::size_t at;
  };
  const std::vector<Case> cases{{"a\x80", 1},        {"\xc0\xaf", 0},          {"\xc1\xbf", 0},         {"\xe0\x80\xaf", 0},
                                {"\xed\xa0\x80", 0}, {"x\xf0\x80\x80\x80", 1}, {"\xf4\x90\x80\x80", 0}, {"\xf5\x80\x80\x80", 0},
                                {"\xff", 0},         {"猫\xe7\x8c", 3},        {"\xe7\x8c x", 0},       {"\xf0\x9f\x98", 0}};
  for (const Case& c : cases) {
    EXPECT_FALSE(is_utf8(c.text));
    EXPECT_EQ(utf8_error(c.text), c.at) << printable(c.text);
  }
}

TEST(Utf8, EachIllFormedByteIsReplaced) {
  EXPECT_EQ(to_utf8("caf\xe9"), "caf\xef\xbf\xbd");
  EXPECT_EQ(to_utf8("\xff\xfe猫"), "\xef\xbf\xbd\xef\xbf\xbd猫");
  EXPECT_EQ(to_utf8("猫"), "猫");
  EXPECT_EQ(to_utf8(""), "");
}

TEST(Printable, ControlsAndHiddenCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");
  EXPECT_EQ(printable("\xe2\x80\x8b"), "\\u200b");
  EXPECT_EQ(printable("\xef\xbb\xbf"), "\\ufeff");
  EXPECT_EQ(printable("\xf3\xa0\x81\x81"), "\\U000e0041");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("The 猫 é 😀"), "The 猫 é 😀");
}

TEST(Printable, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(printable(std::string(300, 'a')), std::string(200, 'a') + "...");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc...");
  EXPECT_EQ(printable("a猫b", 3), "a...");
  EXPECT_EQ(printable("ab\x1b", 4), "ab...");
}

TEST(Printable, TheEndOfALongPath) {
  EXPECT_EQ(printable_end("a/b\nc"), "a/b\\nc");
  EXPECT_EQ(printable_end(std::string(200, 'a') + "/file.npy", 20), "..." + std::string(11, 'a') + "/file.npy");
  EXPECT_EQ(printable_end("aa猫b", 3), "...b");
  EXPECT_EQ(printable_end("aa猫b", 4), "...猫b");
  EXPECT_EQ(printable_end("abc", 3), "abc");
}

TEST(JsonString, QuotesAndEscapes) {
  EXPECT_EQ(json_of("cat"), "\"cat\"");
  EXPECT_EQ(json_of("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(json_of("\n\t\r"), "\"\\n\\t\\r\"");
  EXPECT_EQ(json_of(std::string_view("\0\x1f", 2)), "\"\\u0000\\u001f\"");
  EXPECT_EQ(json_of("猫😀"), "\"猫😀\"");
  EXPECT_EQ(json_of("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(Nearest, SuggestsTypingMistakes) {
  const std::vector<std::string> words{"query", "key", "value", "embeddings", "W_Q", "mask_kind"};
  EXPECT_EQ(nearest("qeury", words), "query");
  EXPECT_EQ(nearest("keys", words), "key");
  EXPECT_EQ(nearest("w_q", words), "W_Q");
  EXPECT_EQ(nearest("embedings", words), "embeddings");
  EXPECT_EQ(nearest("maskkind", words), "mask_kind");
  EXPECT_EQ(nearest("VALUE", words), "value");
}

TEST(Nearest, SuggestsNothingFarFetched) {
  const std::vector<std::string> words{"query", "key", "value", "q"};
  EXPECT_EQ(nearest("tokens", words), std::nullopt);
  EXPECT_EQ(nearest("x", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(5000, 'k'), words), std::nullopt);
  EXPECT_EQ(nearest("key", {}), std::nullopt);
}

TEST(Nearest, IsSaidInOneWay) {
  const std::vector<std::string> words{"query", "a\nb\nc\nd"};
  EXPECT_EQ(did_you_mean("qeury", words), "did you mean 'query'?");
  EXPECT_EQ(did_you_mean("a\nb\nc", words), "did you mean 'a\\nb\\nc\\nd'?");
  EXPECT_EQ(did_you_mean("tokens", words), "");
}

}  // namespace
}  // namespace attn
