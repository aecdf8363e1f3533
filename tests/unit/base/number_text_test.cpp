#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "attn/base/text.hpp"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string text_of(float value) {
  std::string text;
  append_number(text, value);
  return text;
}

double parsed(std::string_view text) {
  double value = -12345;
  EXPECT_EQ(parse_number(text, value), NumberStatus::ok) << text;
  return value;
}

NumberStatus status_of(std::string_view text) {
  double value = 0;
  return parse_number(text, value);
}

TEST(NumberText, FewestDigitsThatReadBack) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(1), "1");
  EXPECT_EQ(format_number(-2.5), "-2.5");
  EXPECT_EQ(format_number(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(text_of(1.0f / 3), "0.33333334");
  EXPECT_EQ(text_of(0.1f), "0.1");
  EXPECT_EQ(format_number(5e-324), "5e-324");
  EXPECT_EQ(format_number(0.0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(text_of(-0.0f), "0");
  EXPECT_EQ(format_number(std::nan("")), "NaN");
  EXPECT_EQ(format_number(-std::nan("")), "NaN");
  EXPECT_EQ(format_number(kInfinity), "Infinity");
  EXPECT_EQ(format_number(-kInfinity), "-Infinity");
}

TEST(NumberText, AppendsBehindWhatIsThere) {
  std::string text = "a,";
  append_number(text, 1.5);
  EXPECT_EQ(text, "a,1.5");
}

TEST(NumberText, RandomBitPatternsReadBackExactly) {
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = random();
    const double wide = std::bit_cast<double>(bits);
    const float narrow = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 13));
    if (std::isfinite(wide) && wide != 0) {
      ASSERT_EQ(parsed(format_number(wide)), wide);
    }
    if (std::isfinite(narrow) && narrow != 0) {
      ASSERT_EQ(static_cast<float>(parsed(text_of(narrow))), narrow);
    }
  }
}

TEST(NumberText, ReadsDecimalNumbers) {
  EXPECT_EQ(parsed("0"), 0.0);
  EXPECT_EQ(parsed("-1.5"), -1.5);
  EXPECT_EQ(parsed("+1.5"), 1.5);
  EXPECT_EQ(parsed("1e3"), 1000.0);
  EXPECT_EQ(parsed("1E+03"), 1000.0);
  EXPECT_EQ(parsed("2.5e-1"), 0.25);
  EXPECT_EQ(parsed(".5"), 0.5);
  EXPECT_EQ(parsed("5."), 5.0);
  EXPECT_EQ(parsed("007"), 7.0);
  EXPECT_TRUE(std::signbit(parsed("-0")));
  EXPECT_EQ(parsed("0.1000000000000000055511151231257827021181583404541015625"), 0.1);
  EXPECT_EQ(parsed("1" + std::string(300, '0')), 1e300);
  EXPECT_EQ(parsed("0." + std::string(400, '0') + "1e401"), 1.0);
}

TEST(NumberText, ReadsWordsInAnyCase) {
  for (const auto* word : {"inf", "Inf", "INFINITY", "+infinity", "Infinity"}) EXPECT_EQ(parsed(word), kInfinity) << word;
  for (const auto* word : {"-inf", "-Infinity"}) EXPECT_EQ(parsed(word), -kInfinity) << word;
  for (const auto* word : {"nan", "NaN", "-NAN", "+nan"}) EXPECT_TRUE(std::isnan(parsed(word))) << word;
}

TEST(NumberText, RefusesWhatIsNotWhollyANumber) {
  for (const auto* text : {"",     " ",     "1 ",  " 1",  "1.5abc", "1_000", "0x1p3", "0x10",      "NaN(7)", "nan1", "infinit",
                           "1,5",  "--1",   "+-1", "-+1", "++1",    "e5",    "1e",    "1e+",       ".",      "-",    "+",
                           "-.e1", "1.2.3", "1d3", "١",   "in",     "null",  "true",  "infinityy", "1\n"})
    EXPECT_EQ(status_of(text), NumberStatus::not_a_number) << text;
  EXPECT_EQ(status_of(std::string_view("1\0", 2)), NumberStatus::not_a_number);
}

TEST(NumberText, OverflowIsOutOfRange) {
  for (const auto* text : {"1e400", "-1e400", "1e309", "1.8e308", "1e99999999999999999999", "1000e306"})
    EXPECT_EQ(status_of(text), NumberStatus::out_of_range) << text;
  EXPECT_EQ(status_of("1" + std::string(400, '0')), NumberStatus::out_of_range);
  EXPECT_EQ(status_of("1" + std::string(400, '0') + ".5e-50"), NumberStatus::out_of_range);
  EXPECT_EQ(parsed("1.7976931348623157e308"), std::numeric_limits<double>::max());
}

TEST(NumberText, UnderflowIsZeroOrTheSubnormal) {
  EXPECT_EQ(parsed("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(parsed("-1e-400")));
  EXPECT_EQ(parsed("1e-99999999999999999999"), 0.0);
  EXPECT_EQ(parsed("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(parsed("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parsed("1e-320"), 1e-320);
  EXPECT_EQ(parsed("0e99999999999999999999"), 0.0);
  EXPECT_EQ(parsed("0.000e400"), 0.0);
}

TEST(NumberText, WholeNumbers) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<Index>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<Index>::min());
  for (const auto* text : {"", "-", "01", "-01", "+1", " 1", "1 ", "1.0", "1e3", "9223372036854775808", "0x1", "--1"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(NumberText, SizesInBytes) {
  EXPECT_EQ(parse_size("1000"), 1000u);
  EXPECT_EQ(parse_size("512M"), 512u << 20);
  EXPECT_EQ(parse_size("1.5GiB"), 1610612736u);
  EXPECT_EQ(parse_size("64kb"), 65536u);
  EXPECT_EQ(parse_size("2T"), std::size_t{2} << 40);
  EXPECT_EQ(parse_size("0"), 0u);
  for (const auto* text : {"", "M", "-1", "1.5", "1X", "1MM", "1 M", "1e3", "nan", "1..5M", "99999999999T", "+1M", "."})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(NumberText, NumbersForPeople) {
  EXPECT_EQ(format_rounded(0.37754066879814546, 6), "0.377541");
  EXPECT_EQ(format_rounded(0.5, 6), "0.5");
  EXPECT_EQ(format_rounded(-0.0, 3), "0");
  EXPECT_EQ(format_rounded(1234567, 3), "1.23e+06");
  EXPECT_EQ(format_rounded(kInfinity, 3), "Infinity");
  EXPECT_EQ(format_rounded(1.0 / 3, 99), "0.33333333333333331");
  EXPECT_EQ(format_rounded(2.0 / 3, 0), "0.7");
}

TEST(NumberText, BytesForPeople) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(640 * 1024), "640 KiB");
  EXPECT_EQ(format_bytes(1610612736), "1.5 GiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1 MiB");
  EXPECT_EQ(format_bytes(SIZE_MAX), "16 EiB");
}

}  // namespace
}  // namespace attn
