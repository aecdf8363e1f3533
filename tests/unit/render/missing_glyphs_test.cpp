#include "render/missing_glyphs.hpp"

#include <gtest/gtest.h>

namespace attn {
namespace {

using Notes = std::vector<std::string>;

TEST(MissingGlyphs, ArePutTogetherByPackage) {
  EXPECT_EQ(missing_glyph_notes({}), Notes{});
  EXPECT_EQ(missing_glyph_notes({0x8c93}), Notes{"no font has U+8C93; the picture shows boxes; apt-get install fonts-noto-cjk"});
  EXPECT_EQ(missing_glyph_notes({0x1f468, 0x915, 0x1f469}),
            (Notes{"no font has U+1F468, U+1F469; the picture shows boxes; apt-get install fonts-noto-color-emoji",
                   "no font has U+0915; the picture shows boxes; apt-get install fonts-noto-core"}));
}

TEST(MissingGlyphs, ManyAreCounted) {
  EXPECT_EQ(missing_glyph_notes({0x900, 0x901, 0x902, 0x903, 0x904, 0x905, 0x906}),
            Notes{"no font has U+0900, U+0901, U+0902, U+0903, U+0904 and 2 more; the picture shows boxes; apt-get install "
                  "fonts-noto-core"});
}

TEST(MissingGlyphs, PrivateCharactersHaveNoPackage) {
  EXPECT_EQ(missing_glyph_notes({0xe000}),
            Notes{"no font has U+E000; the picture shows boxes (private use: --font names a font that has them)"});
}

}  // namespace
}  // namespace attn
