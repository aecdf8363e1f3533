#include "app/array_pick.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace attn::app {
namespace {

TEST(NaturalLess, DigitsCompareAsNumbers) {
  const std::vector<std::string> sorted{"",    "10",      "a",       "a1b2",     "a1b10",     "a2",
                                        "a10", "layer.2", "layer.9", "layer.10", "layer.10.x"};
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t j = 0; j < sorted.size(); ++j)
      EXPECT_EQ(natural_less(sorted[i], sorted[j]), i < j) << sorted[i] << " " << sorted[j];
}

TEST(NaturalLess, LongNumbersDoNotOverflow) {
  const std::string big(400, '9'), bigger = "1" + std::string(400, '0');
  EXPECT_TRUE(natural_less("a" + big, "a" + bigger));
  EXPECT_FALSE(natural_less("a" + bigger, "a" + big));
}

TEST(NaturalLess, LeadingZerosDoNotCount) {
  EXPECT_TRUE(natural_less("a007", "a8"));
  EXPECT_FALSE(natural_less("a08", "a7"));
}

}  // namespace
}  // namespace attn::app
