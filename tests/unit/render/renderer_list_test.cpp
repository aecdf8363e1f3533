#include <gtest/gtest.h>

#include "picture_support.hpp"

namespace attn {
namespace {

TEST(RendererList, FormatsAreToldByTheirNames) {
  EXPECT_EQ(picture_format_names(), (std::vector<std::string>{"png", "svg", "pdf", "html", "txt"}));
  EXPECT_EQ(picture_format_of("a/b.c/w.PNG"), "png");
  EXPECT_EQ(picture_format_of("svg"), "svg");
  EXPECT_EQ(picture_format_of("w.json"), "");
  EXPECT_EQ(picture_format_of("png/w"), "");
  EXPECT_EQ(picture_format_of(""), "");
}

TEST(RendererList, UnknownFormatsAreRefused) {
  test::TextSink sink;
  const test::Failure failure = test::failure_of([&] { make_picture("gif", test::spec_of(Shape{1, 1}), sink, MemoryBudget()); });
  EXPECT_EQ(failure.kind, ErrorKind::usage);
  EXPECT_NE(failure.message.find("png, svg, pdf, html, txt"), std::string::npos);
}

}  // namespace
}  // namespace attn
