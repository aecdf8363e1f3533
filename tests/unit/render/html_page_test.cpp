#include "render/html_page.hpp"

#include <gtest/gtest.h>

#include <string>

namespace attn {
namespace {

std::string base64(std::string_view text) {
  std::string encoded;
  append_base64(encoded, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return encoded;
}

struct TextSink : ByteSink {
  std::string text;
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
};

TEST(Base64, AgreesWithTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Base64, SizeCountsPadding) {
  for (std::size_t bytes = 0; bytes < 10; ++bytes) EXPECT_EQ(base64(std::string(bytes, 'x')).size(), base64_size(bytes));
}

TEST(HtmlEscapes, LeaveNoMarkup) {
  EXPECT_EQ(escape_html("<a b=\"c\" d='e'>&amp;"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
  EXPECT_EQ(escape_html("a\xff"
                        "b\x01\x7f\t\xc3\xa9"),
            "a\uFFFD"
            "b\uFFFD\uFFFD\t\xc3\xa9");
  EXPECT_EQ(escape_json_for_script("[\"</script>&<!--\"]"), "[\"\\u003c/script\\u003e\\u0026\\u003c!--\"]");
  EXPECT_EQ(escape_json_for_script("\u2027\u2028\u2029\u202a\x7f\xe2\x80"), "\u2027\\u2028\\u2029\u202a\\u007f\xe2\x80");
}

const WebPage& small_page() {
  static const WebPage page{
      "<meta content=\"{{policy}}\"><html data-theme=\"{{theme}}\"><title>{{title}}</title><style>{{style}}</style>{{data}}"
      "<script>{{script}}</script>",
      "p{}", "0000000000000000000000000000000000000000000000000000000000000000", "f('{{title}}')",
      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
  return page;
}

TEST(PageWriterTest, FillsPlacesInOrderAndDataInTheMiddle) {
  TextSink sink;
  PageWriter writer(small_page(), sink);
  writer.begin("a<b", "dark");
  writer.data("[data]");
  writer.end();
  EXPECT_EQ(sink.text,
            "<meta content=\"default-src 'none'; script-src 'sha256-//////////////////////////////////////////8='; "
            "style-src 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='; base-uri 'none'; form-action 'none'\">"
            "<html data-theme=\"dark\"><title>a&lt;b</title><style>p{}</style>[data]<script>f('{{title}}')</script>");
}

TEST(PageWriterTest, TheEmbeddedPageAsksForNothingFromOutside) {
  const WebPage& page = attention_page();
  for (const std::string_view part : {page.markup, page.style, page.script})
    for (const std::string_view word : {"http:", "https:", "src=", "href=", "@import", "url(", "innerHTML", "eval("})
      EXPECT_EQ(part.find(word), std::string_view::npos) << word;
}

}  // namespace
}  // namespace attn
