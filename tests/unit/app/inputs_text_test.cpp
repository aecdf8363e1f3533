#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/inputs.hpp"

namespace attn::app {
namespace {

using ::testing::ElementsAre;
using namespace std::string_view_literals;

TEST(StringList, IsJsonToItsLastByte) {
  const auto list = parse_string_list(R"( ["a","b\n"] )");
  ASSERT_TRUE(list.has_value());
  EXPECT_THAT(*list, ElementsAre("a", "b\n"));
  for (const std::string_view text : {"[\"a\"] x"sv, "[\"a\"]\0"sv, "[\"a\"]\0junk"sv, "[1]"sv, "{}"sv, ""sv})
    EXPECT_FALSE(parse_string_list(text).has_value()) << text;
}

TEST(FlatObject, IsJsonToItsLastByte) {
  const auto fields = parse_flat_object(R"({"heads":2,"window":[-1,0],"causal":true})");
  ASSERT_TRUE(fields.has_value());
  EXPECT_THAT(*fields, ElementsAre(std::pair<std::string, std::string>("heads", "2"),
                                   std::pair<std::string, std::string>("window", "-1,0"),
                                   std::pair<std::string, std::string>("causal", "true")));
  for (const std::string_view text : {"{} x"sv, "{}\0"sv, "[]"sv}) EXPECT_FALSE(parse_flat_object(text).has_value()) << text;
}

}  // namespace
}  // namespace attn::app
