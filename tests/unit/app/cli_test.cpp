#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "app/command.hpp"
#include "attn/base/error.hpp"

namespace attn::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int never_run(const Words&, Console&) { return 70; }

/// A subcommand with an option of each form.
const Command& sample() {
  static const Command command{
      .name = "sample",
      .summary = "a subcommand of the test",
      .usage = "sample [DOCUMENT] [options]",
      .max_inputs = 1,
      .options = {{.name = "--query", .letter = 'Q', .value = "FILE", .kind = ValueKind::file},
                  {.name = "--key", .letter = 'K', .value = "FILE", .kind = ValueKind::file},
                  {.name = "--value", .letter = 'V', .value = "FILE", .kind = ValueKind::file},
                  {.name = "--weights", .letter = 'w', .value = "FILE", .kind = ValueKind::file, .repeatable = true},
                  {.name = "--scale", .value = "S", .kind = ValueKind::number},
                  {.name = "--window", .value = "LEFT,RIGHT", .kind = ValueKind::text},
                  {.name = "--heads", .value = "H", .kind = ValueKind::integer},
                  {.name = "--causal", .help = "a flag"},
                  {.name = "--kernel", .value = "WHICH", .kind = ValueKind::choice, .choices = {"auto", "reference", "tiled"}}},
      .run = never_run};
  return command;
}

Words parse(const std::vector<std::string>& arguments) { return parse_words(sample(), arguments); }

Error refusal(const std::vector<std::string>& arguments) {
  try {
    parse(arguments);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "nothing was refused");
}

void expect_usage(const std::vector<std::string>& arguments, const std::string& part) {
  const Error error = refusal(arguments);
  EXPECT_EQ(error.kind(), ErrorKind::usage) << error.message();
  EXPECT_THAT(error.message(), HasSubstr(part));
}

TEST(ParseWords, RepeatableOptionLeavesThePositionalAfterIt) {
  const Words words = parse({"-w", "w.csv", "doc.json"});
  EXPECT_THAT(words.values("--weights"), ElementsAre("w.csv"));
  EXPECT_THAT(words.inputs, ElementsAre("doc.json"));
}

TEST(ParseWords, RepeatableOptionKeepsItsOrder) {
  const Words words = parse({"-w", "b", "--weights", "a", "--weights=c", "-wd"});
  EXPECT_THAT(words.values("--weights"), ElementsAre("b", "a", "c", "d"));
  EXPECT_EQ(words.value("--weights"), "d");
}

TEST(ParseWords, ValueWithOneDashIsAValue) {
  const Words words = parse({"--scale", "-1", "--window", "-1,0", "-w", "-x.npy"});
  EXPECT_EQ(words.value("--scale"), "-1");
  EXPECT_EQ(words.value("--window"), "-1,0");
  EXPECT_EQ(words.value("--weights"), "-x.npy");
}

TEST(ParseWords, ValueWithTwoDashesIsRefused) {
  expect_usage({"-w", "--causal"}, "-w needs a value (FILE), found '--causal'");
  expect_usage({"--weights", "--"}, "found '--'");
  expect_usage({"--weights=--causal"}, "found '--causal'");
}

TEST(ParseWords, MissingValueIsRefused) {
  expect_usage({"doc.json", "-w"}, "-w needs a value: -w FILE");
  expect_usage({"--scale"}, "--scale needs a value");
}

TEST(ParseWords, EmptyValueDoesNotTakeTheNextWord) {
  const Words words = parse({"--window=", "doc.json"});
  EXPECT_TRUE(words.has("--window"));
  EXPECT_EQ(words.value("--window", "otherwise"), "");
  EXPECT_THAT(words.inputs, ElementsAre("doc.json"));
  expect_usage({"--scale", ""}, "--scale: found ''");
  expect_usage({"--scale=", "1"}, "--scale: found ''");
}

TEST(ParseWords, EqualsAfterALetterIsRefused) {
  expect_usage({"-w=x.csv"}, "found '-w=x.csv'");
  expect_usage({"-w="}, "found '-w='");
  EXPECT_THAT(refusal({"-w="}).hint(), HasSubstr("--weights=FILE"));
}

TEST(ParseWords, FlagTakesNoValue) {
  expect_usage({"--causal=yes"}, "--causal takes no value");
  EXPECT_TRUE(parse({"--causal", "doc.json"}).has("--causal"));
  EXPECT_THAT(parse({"--causal", "doc.json"}).inputs, ElementsAre("doc.json"));
}

TEST(ParseWords, LettersOfFlagsJoin) {
  const Words words = parse({"-qvw", "x.csv"});
  EXPECT_TRUE(words.has("--quiet"));
  EXPECT_TRUE(words.has("--verbose"));
  EXPECT_EQ(words.value("--weights"), "x.csv");
}

TEST(ParseWords, DashIsAPositional) { EXPECT_THAT(parse({"-"}).inputs, ElementsAre("-")); }

TEST(ParseWords, TwoDashesEndTheOptions) {
  EXPECT_THAT(parse({"--", "-x.npy"}).inputs, ElementsAre("-x.npy"));
  EXPECT_THAT(parse({"--causal", "--", "--causal"}).inputs, ElementsAre("--causal"));
  EXPECT_THAT(parse({"--"}).inputs, IsEmpty());
}

TEST(ParseWords, BracketsAreNotTakenApart) {
  const Words words = parse({"-w", "[a,b].csv", "--window", "[1,2]", "[doc].json"});
  EXPECT_THAT(words.values("--weights"), ElementsAre("[a,b].csv"));
  EXPECT_THAT(words.values("--window"), ElementsAre("[1,2]"));
  EXPECT_THAT(words.inputs, ElementsAre("[doc].json"));
}

TEST(ParseWords, OddValuesArriveAsTyped) {
  for (const std::string value : {"{}", "%%", "a=b", "a b", "", "'x'", "\"x\"", "貓", "[]", "/x:y", "+"})
    EXPECT_EQ(parse({"--window", value}).value("--window"), value);
}

TEST(ParseWords, OptionsAreNotAbbreviated) {
  expect_usage({"--caus"}, "unknown option '--caus'");
  expect_usage({"--weight", "x"}, "unknown option '--weight'");
  EXPECT_EQ(refusal({"--weight", "x"}).hint(), "did you mean '--weights'?");
  EXPECT_EQ(refusal({"--Scale=1"}).hint(), "did you mean '--scale'?");
  EXPECT_EQ(refusal({"-scale", "1"}).hint(), "did you mean '--scale'?");
}

TEST(ParseWords, RepetitionIsRefused) {
  expect_usage({"--scale", "1", "--scale", "2"}, "--scale is given 2 times");
  expect_usage({"--threads", "1", "--threads=1"}, "--threads is given 2 times");
  expect_usage({"--causal", "--causal"}, "--causal is given 2 times");
}

TEST(ParseWords, TooManyInputsAreRefused) {
  expect_usage({"a.json", "b.json"}, "sample takes at most 1 input, found 'b.json' too");
}

TEST(ParseWords, SmallLetterBeforeAFileHintsAtTheCapital) {
  EXPECT_THAT(refusal({"-k", "k.csv"}).hint(), HasSubstr("-K k.csv"));
  // The error names -k, and so does the hint.
  EXPECT_THAT(refusal({"-q", "q.csv", "-k", "k.csv"}).hint(), HasSubstr("-K k.csv"));
  EXPECT_THAT(letter_hint(sample(), {"-v", "v.csv"}), HasSubstr("-V v.csv"));
  EXPECT_EQ(letter_hint(sample(), {"doc.json", "-q"}), "");
  EXPECT_EQ(letter_hint(sample(), {"-q", "--causal"}), "");
}

TEST(ParseWords, ValuesAreCheckedWhenTyped) {
  expect_usage({"--kernel", "tild"}, "--kernel: found 'tild', expected auto, reference or tiled");
  EXPECT_EQ(refusal({"--kernel", "tild"}).hint(), "did you mean 'tiled'?");
  for (const std::string value : {"1e999", "0x10", "nan", "inf", "1.5abc", " 1", "1 ", "", "+-1", "1,5"})
    expect_usage({"--scale", value}, "--scale: found '" + value + "'");
  for (const std::string value : {"010", "1.5", "1e3", "", "true", "0x1"})
    expect_usage({"--heads", value}, "--heads: found '" + value + "'");
  // A whole number may be too large for the option, which knows its limits when it is resolved.
  EXPECT_EQ(parse({"--heads", "99999999999999999999"}).value("--heads"), "99999999999999999999");
  try {
    integer_value("--heads", "99999999999999999999", 1, 100);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.message(), HasSubstr("100"));
  }
  expect_usage({"--max-memory", "lots"}, "--max-memory");
}

TEST(ParseWords, HelpEndsTheParsing) {
  EXPECT_TRUE(parse({"doc.json", "--help", "--no-such"}).has("--help"));
  EXPECT_TRUE(parse({"-h"}).has("--help"));
  EXPECT_FALSE(parse({"--window", "-h"}).has("--help"));
}

// Whatever is typed: a refusal of kind usage, or words in which nothing is lost, doubled or taken for something else.
TEST(ParseWords, RandomWordsAreRefusedOrKept) {
  const std::vector<std::string> pieces{
      "-w",       "--weights", "--weights=", "--scale", "--scale=2",     "-1",      "-",  "--",  "x.csv", "-q",        "-qv",
      "--causal", "-wv",       "--window",   "",        "--window",      "=",       "-=", "--=", "---",   "[a,b]",     "-Q",
      "-Qq.csv",  "{}",        "--kernel",   "auto",    "--kernel=auto", "--heads", "2",  "-V",  "-2",    "--no-such", "%%"};
  std::mt19937 random(7);
  int kept = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> arguments;
    for (auto count = random() % 6; count > 0; --count) arguments.push_back(pieces[random() % pieces.size()]);
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    try {
      const Words words = parse(arguments);
      ++kept;
      for (const std::string& input : words.inputs) {
        EXPECT_NE(std::find(arguments.begin(), arguments.end(), input), arguments.end());
        EXPECT_TRUE(mark != arguments.end() || input.empty() || input == "-" || input[0] != '-') << input;
      }
      for (const std::string& option : words.given())
        for (const std::string& value : words.values(option)) {
          EXPECT_NE(value.substr(0, 2), "--");
          const auto holds = [&](const std::string& word) { return word.ends_with(value) || value == "true"; };
          EXPECT_TRUE(std::any_of(arguments.begin(), arguments.end(), holds)) << option << " " << value;
        }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.message();
    }
  }
  EXPECT_GT(kept, 200);
}

TEST(ParseWords, NothingGivenIsNothingHad) {
  const Words words = parse({});
  EXPECT_THAT(words.inputs, IsEmpty());
  EXPECT_THAT(words.given(), IsEmpty());
  EXPECT_FALSE(words.has("--causal"));
}

}  // namespace
}  // namespace attn::app
