#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/render/picture.hpp"
#include "render/html_plan.hpp"

namespace attn {
namespace {

struct TextSink : ByteSink {
  std::string text;
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
};

PictureSpec spec_of(std::vector<Shape> shapes) {
  PictureSpec spec;
  spec.version = "test";
  for (Shape& shape : shapes) {
    PictureLayer layer;
    layer.name = "layer" + std::to_string(spec.layers.size());
    layer.shape = std::move(shape);
    spec.layers.push_back(layer);
  }
  return spec;
}

/// The page of rows value(row, key), sent in blocks of `block` rows.
template <typename Value>
std::string page_of(const PictureSpec& spec, Index block, bool encode_first, Value value) {
  TextSink sink;
  const std::unique_ptr<Picture> picture = make_picture("html", spec, sink, MemoryBudget());
  Index first = 0;
  for (const PictureLayer& layer : spec.layers) {
    const Index keys = layer.shape.back(), rows = keys == 0 ? 0 : checked_size(layer.shape, "test") / keys;
    for (Index row = 0; row < rows; row += block) {
      RowBlock part;
      part.first = first + row;
      part.count = std::min(block, rows - row);
      part.columns = part.stride = keys;
      std::vector<float> data;
      for (Index r = 0; r < part.count; ++r)
        for (Index key = 0; key < keys; ++key) data.push_back(value(part.first + r, key));
      part.data = data.data();
      std::string encoded;
      if (encode_first) picture->encode(part, encoded);
      picture->append(part, encoded);
    }
    first += rows;
  }
  picture->finish();
  return sink.text;
}

float plain(Index row, Index key) { return static_cast<float>(row) + static_cast<float>(key) / 16; }

std::string block_of(const std::string& page, const std::string& id) {
  const std::size_t at = page.find("id=\"" + id + "\">");
  if (at == std::string::npos) return "no block";
  const std::size_t start = page.find('>', at) + 1;
  return page.substr(start, page.find("</script>", start) - start);
}

std::vector<float> floats_of(const std::string& base64) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 3 < base64.size(); i += 4) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) group = group << 6 | static_cast<std::uint32_t>(letters.find(base64[i + k]));
    for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<unsigned char>(group >> shift & 255));
  }
  std::vector<float> floats;
  for (std::size_t i = 0; i + 3 < bytes.size(); i += 4)
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bytes[i]) | static_cast<std::uint32_t>(bytes[i + 1]) << 8 |
                                          static_cast<std::uint32_t>(bytes[i + 2]) << 16 |
                                          static_cast<std::uint32_t>(bytes[i + 3]) << 24));
  return floats;
}

ErrorKind kind_of(const PictureSpec& spec) {
  try {
    page_of(spec, 1, true, plain);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

TEST(HtmlPicture, EveryPlaneHoldsItsRows) {
  const std::string page = page_of(spec_of({{2, 3, 2, 6}, {4, 3}}), 5, true, plain);
  for (Index plane = 0; plane < 6; ++plane) {
    const std::vector<float> cells = floats_of(block_of(page, "plane-0-" + std::to_string(plane)));
    ASSERT_EQ(cells.size(), 12U);
    for (Index i = 0; i < 12; ++i) EXPECT_EQ(cells[static_cast<std::size_t>(i)], plain(2 * plane + i / 6, i % 6)) << plane;
  }
  EXPECT_EQ(floats_of(block_of(page, "plane-1-0"))[0], plain(12, 0));
  EXPECT_EQ(block_of(page, "plane-0-6"), "no block");
}

TEST(HtmlPicture, BytesDoNotDependOnTheBlocks) {
  const PictureSpec spec = spec_of({{3, 5, 7}, {5, 7}});
  const std::string page = page_of(spec, 1, true, plain);
  EXPECT_EQ(page, page_of(spec, 4, true, plain));
  EXPECT_EQ(page, page_of(spec, 100, false, plain));
}

TEST(HtmlPicture, TheRangeOfAllLayersStandsInTheTrailer) {
  const std::string facts = block_of(page_of(spec_of({{2, 3}, {2, 3}}), 2, true, plain), "facts");
  EXPECT_NE(facts.find("\"min\":0,\"max\":3.125,\"least\":0.0625,"), std::string::npos) << facts;
  EXPECT_NE(facts.find("\"colormap\":\"viridis\""), std::string::npos);
}

TEST(HtmlPicture, NegativeValuesTakeTheDivergingMap) {
  const auto value = [](Index row, Index) { return row == 0 ? -1.0F : 0.5F; };
  EXPECT_NE(page_of(spec_of({{2, 2}}), 2, true, value).find("\"colormap\":\"RdBu\""), std::string::npos);
  PictureSpec spec = spec_of({{2, 2}});
  spec.options.color_scale = ColorScale::log;
  EXPECT_THROW(page_of(spec, 2, true, value), Error);
}

TEST(HtmlPicture, TokensStandOnlyEscaped) {
  PictureSpec spec = spec_of({{1, 3}});
  spec.options.title = "\"><img src=x onerror=alert(1)>";
  spec.layers[0].name = "</script><b>";
  spec.layers[0].labels = {{"</script><script>alert(1)//"}, {"<!--", "&lt;", "\xff"}};
  const std::string page = page_of(spec, 1, true, plain);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("alert(1)//\"<"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)//"), std::string::npos);
  EXPECT_NE(page.find("\\u003c!--"), std::string::npos);
  EXPECT_NE(page.find("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"), std::string::npos);
}

TEST(HtmlPicture, EqualTokenListsStandOnce) {
  PictureSpec spec = spec_of({{1, 1}, {1, 1}});
  for (PictureLayer& layer : spec.layers) layer.labels = {{"needle"}, {"needle"}};
  const std::string page = page_of(spec, 1, true, plain);
  EXPECT_EQ(page.find("needle"), page.rfind("needle"));
}

TEST(HtmlPicture, TenMillionCellsAreFloatsAndMoreAreBytes) {
  EXPECT_EQ(plan_html(spec_of({{10, 1000, 1000}})).packing, HtmlPacking::float32);
  EXPECT_EQ(plan_html(spec_of({{10, 1000, 1000}, {1, 1}})).packing, HtmlPacking::uint8);
  const HtmlPlan large = plan_html(spec_of(std::vector<Shape>(12, Shape{12, 512, 512})));
  EXPECT_EQ(large.packing, HtmlPacking::uint8);
  EXPECT_LT(large.data_letters, 60'000'000U - 1'000'000U);
}

TEST(HtmlPicture, TopKKeepsTheStrongestUnlessThatIsAll) {
  PictureSpec spec = spec_of({{4, 100}});
  spec.options.top_k = 8;
  EXPECT_EQ(plan_html(spec).packing, HtmlPacking::strongest);
  EXPECT_EQ(plan_html(spec).layers[0].kept, 8);
  spec.options.top_k = 100;
  EXPECT_EQ(plan_html(spec).packing, HtmlPacking::float32);
}

TEST(HtmlPicture, ALayerWithFewKeysKeepsThemAll) {
  PictureSpec spec = spec_of({{4, 100}, {4, 3}});
  spec.options.top_k = 8;
  EXPECT_EQ(plan_html(spec).layers[1].kept, 3);
}

TEST(HtmlPicture, TooLargeAPageIsRefusedWithWhatToDo) {
  try {
    plan_html(spec_of({{32768, 32768}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.hint().find("--top-k 64"), std::string::npos) << error.hint();
  }
  PictureSpec spec = spec_of({{32768, 32768}});
  spec.options.top_k = 64;
  EXPECT_LE(plan_html(spec).data_letters, kHtmlLargestData);
}

TEST(HtmlPicture, WrongOptionsAreRefusedAtOnce) {
  PictureSpec spec = spec_of({{1, 1}});
  spec.options.colormap = "virdis";
  EXPECT_EQ(kind_of(spec), ErrorKind::usage);
  spec.options.colormap = "";
  spec.options.top_k = 0;
  EXPECT_EQ(kind_of(spec), ErrorKind::usage);
  EXPECT_EQ(kind_of(spec_of({{3}})), ErrorKind::usage);
}

TEST(HtmlPicture, AReducedBatchHasNoHeads) {
  PictureSpec spec = spec_of({{2, 3, 3}});
  spec.layers[0].reduced = true;
  const HtmlPlan plan = plan_html(spec);
  EXPECT_TRUE(plan.layers[0].has_batches);
  EXPECT_FALSE(plan.layers[0].has_heads);
  EXPECT_EQ(plan.layers[0].batches, 2);
}

TEST(HtmlPicture, NothingToShowIsAPageToo) {
  for (const Shape& shape : {Shape{0, 4}, Shape{4, 0}, Shape{0, 2, 2}}) {
    const std::string page = page_of(spec_of({shape}), 1, true, plain);
    EXPECT_NE(page.find("\"min\":null,\"max\":null"), std::string::npos);
    EXPECT_NE(page.find("</html>"), std::string::npos);
  }
}

}  // namespace
}  // namespace attn
