#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "attn/render/explanation.hpp"

namespace attn {
namespace {

struct TextSink : ByteSink {
  std::string text;
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
};

Explanation small_explanation() {
  Explanation told;
  told.title = "a < b";
  told.version = "test";
  told.queries = 1;
  told.keys = 2;
  told.scale = 0.5;
  told.mask_text = "causal";
  told.labels = {{"</script>"}, {"x", " "}};
  ExplainedHead head;
  head.name = "head 0";
  head.head_size = 1;
  head.masked = {0.25, -std::numeric_limits<double>::infinity()};
  head.weights = {1, 0};
  told.heads = {head};
  told.before = {{"X: the embeddings", 1, 1, {std::numeric_limits<double>::quiet_NaN()}, {"&"}}};
  return told;
}

std::string page_of(const Explanation& told) {
  TextSink sink;
  write_explanation(told, sink);
  return sink.text;
}

TEST(Explanation, HoldsEveryNumberAndNoMarkupOfTokens) {
  const std::string page = page_of(small_explanation());
  EXPECT_NE(page.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_NE(page.find("\"masked\":[0.25,\"-Infinity\"]"), std::string::npos);
  EXPECT_NE(page.find("\"values\":[\"NaN\"]"), std::string::npos);
  EXPECT_NE(page.find("\"query_tokens\":{\"tokens\":[\"\\u003c/script\\u003e\"]}"), std::string::npos);
  EXPECT_NE(page.find("\"labels\":{\"tokens\":[\"\\u0026\"]}"), std::string::npos);
  EXPECT_NE(page.find("\"scale\":0.5,"), std::string::npos);
}

TEST(Explanation, TokensThatCannotBeSeenAreAlsoHeldAsShown) {
  const std::string page = page_of(small_explanation());
  EXPECT_NE(page.find("\"key_tokens\":{\"tokens\":[\"x\",\" \"],\"shown\":["), std::string::npos);
}

TEST(Explanation, ThemeIsTheReadersUnlessAskedFor) {
  Explanation told = small_explanation();
  EXPECT_NE(page_of(told).find("data-theme=\"\""), std::string::npos);
  told.theme = Theme::dark;
  EXPECT_NE(page_of(told).find("data-theme=\"dark\""), std::string::npos);
}

}  // namespace
}  // namespace attn
