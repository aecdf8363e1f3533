#include "app/json_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace attn::app {
namespace {

TEST(JsonText, ReadsBackAsWhatWasBuilt) {
  JsonText json;
  json.begin_object().text("a \"b\"", "x\n\\").number("half", 0.5).integer("big", 1LL << 53).boolean("yes", true);
  json.indices("shape", {2, 3}).begin_array("list").text({}, "one").number({}, -1).begin_object().end().begin_array().end().end();
  json.begin_object("inner").integer("n", -7).end().end();
  const auto found = nlohmann::json::parse(json.take());
  EXPECT_EQ(found,
            nlohmann::json::parse(R"({"a \"b\"": "x\n\\", "half": 0.5, "big": 9007199254740992, "yes": true, "shape": [2, 3],
    "list": ["one", -1, {}, []], "inner": {"n": -7}})"));
}

TEST(JsonText, NumbersWithoutAWordInJsonAreStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  JsonText json;
  json.begin_array().number({}, infinity).number({}, -infinity).number({}, infinity - infinity).number({}, -0.0).end();
  EXPECT_EQ(nlohmann::json::parse(json.take()), nlohmann::json::parse(R"(["Infinity", "-Infinity", "NaN", 0])"));
}

TEST(JsonText, EndsInALineBreak) {
  JsonText json;
  EXPECT_EQ(json.begin_object().integer("a", 1).end().take(), "{\n  \"a\": 1\n}\n");
}

}  // namespace
}  // namespace attn::app
