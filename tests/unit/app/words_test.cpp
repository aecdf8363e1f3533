#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/command.hpp"
#include "attn/base/error.hpp"

namespace attn::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Saying {
  std::string value;
  Rank rank;
};

// Whatever the order of the calls, the highest rank wins and says where the value came from.
TEST(Words, HighestRankWinsInEveryOrder) {
  std::vector<Saying> sayings{
      {"1", Rank::command_line}, {"2", Rank::document}, {"3", Rank::config}, {"4", Rank::environment}, {"5", Rank::personal}};
  const auto by_value = [](const Saying& a, const Saying& b) { return a.value < b.value; };
  do {
    Words words;
    for (const Saying& saying : sayings) {
      if (saying.rank == Rank::command_line) {
        words.add("--scale", saying.value);
      } else {
        words.add_default("--scale", saying.value, "rank " + saying.value, saying.rank);
      }
    }
    ASSERT_THAT(words.values("--scale"), ElementsAre("1"));
    ASSERT_EQ(words.source("--scale"), "command line");
  } while (std::next_permutation(sayings.begin(), sayings.end(), by_value));
}

TEST(Words, ValuesOfOneRankAddUp) {
  Words words;
  words.add_default("--weights", "a", "config x", Rank::config);
  words.add_default("--weights", "b", "config x", Rank::config);
  EXPECT_THAT(words.values("--weights"), ElementsAre("a", "b"));
  words.add("--weights", "c");
  EXPECT_THAT(words.values("--weights"), ElementsAre("c"));
}

TEST(Words, FlagThatIsOffStaysOff) {
  Words words;
  words.add_off("--causal", "document", Rank::document);
  words.add_default("--causal", "true", "config", Rank::config);
  EXPECT_FALSE(words.has("--causal"));
  EXPECT_THAT(words.given(), IsEmpty());
  words.add("--causal", "true");
  EXPECT_TRUE(words.has("--causal"));
}

TEST(Words, AbsentOptionGivesTheOtherwise) {
  Words words;
  EXPECT_EQ(words.value("--scale", "0.5"), "0.5");
  EXPECT_THAT(words.values("--scale"), IsEmpty());
  EXPECT_EQ(words.source("--scale"), "");
  words.add("--scale", "2");
  words.remove("--scale");
  EXPECT_FALSE(words.has("--scale"));
}

TEST(Values, IndexList) {
  bool single = false;
  EXPECT_THAT(index_list_value("--head", "0-3,7", &single), ElementsAre(0, 1, 2, 3, 7));
  EXPECT_FALSE(single);
  EXPECT_THAT(index_list_value("--head", "5", &single), ElementsAre(5));
  EXPECT_TRUE(single);
  EXPECT_THAT(index_list_value("--head", "7,0", &single), ElementsAre(7, 0));
  EXPECT_THAT(index_list_value("--head", "2-2", &single), ElementsAre(2));
  EXPECT_FALSE(single);
}

TEST(Values, IndexListRefusesWhatIsNoList) {
  for (const char* text :
       {"", ",", "1,", ",1", "-1", "3-1", "1-", "a", "1.5", "01", "0-99999999999", "1--2", "1 ,2", "0,0", "0-3,2"})
    EXPECT_THROW(index_list_value("--head", text), Error) << text;
}

TEST(Values, IntegerKeepsToItsRange) {
  EXPECT_EQ(integer_value("--digits", "17", 0, 17), 17);
  EXPECT_EQ(integer_value("--offset", "-3", -10, 10), -3);
  for (const char* text : {"18", "-1", "", "1e1", "007", "+1"})
    EXPECT_THROW(integer_value("--digits", text, 0, 17), Error) << text;
}

TEST(Values, NumberIsFinite) {
  EXPECT_EQ(number_value("--scale", "-0.5"), -0.5);
  EXPECT_EQ(number_value("--scale", "1e-3"), 1e-3);
  for (const char* text : {"nan", "inf", "-Infinity", "1e999", "", "0x1p3", "1_000"})
    EXPECT_THROW(number_value("--scale", text), Error) << text;
}

}  // namespace
}  // namespace attn::app
