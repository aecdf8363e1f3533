#include "render/colormap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attn/render/picture.hpp"
#include "picture_support.hpp"
#include "render/theme.hpp"

namespace attn {
namespace {

using test::failure_of;

double contrast(Rgb a, Rgb b) {
  const double high = std::max(relative_luminance(a), relative_luminance(b)),
               low = std::min(relative_luminance(a), relative_luminance(b));
  return (high + 0.05) / (low + 0.05);
}

TEST(Colormap, NamesAreThoseOfTheHelp) {
  const std::vector<std::string> names = {"viridis", "magma", "inferno", "plasma", "cividis", "grey", "Reds", "Blues", "RdBu"};
  EXPECT_EQ(colormap_names(), names);
}

TEST(Colormap, EndsArePublishedColors) {
  EXPECT_EQ(find_colormap("viridis").at(0), (Rgb{0x44, 0x01, 0x54}));
  EXPECT_EQ(find_colormap("viridis").at(1), (Rgb{0xfd, 0xe7, 0x25}));
  EXPECT_EQ(find_colormap("magma").at(0), (Rgb{0x00, 0x00, 0x04}));
  EXPECT_EQ(find_colormap("magma").at(1), (Rgb{0xfc, 0xfd, 0xbf}));
  EXPECT_EQ(find_colormap("inferno").at(1), (Rgb{0xfc, 0xff, 0xa4}));
  EXPECT_EQ(find_colormap("plasma").at(0), (Rgb{0x0d, 0x08, 0x87}));
  EXPECT_EQ(find_colormap("cividis").at(0), (Rgb{0x00, 0x22, 0x4e}));
  EXPECT_EQ(find_colormap("grey").at(0.5), (Rgb{128, 128, 128}));
  EXPECT_EQ(find_colormap("Reds").at(0), (Rgb{0xff, 0xf5, 0xf0}));
  EXPECT_EQ(find_colormap("Blues").at(1), (Rgb{0x08, 0x30, 0x6b}));
  EXPECT_EQ(find_colormap("RdBu").at(0), (Rgb{0x67, 0x00, 0x1f}));
  EXPECT_EQ(find_colormap("RdBu").at(1), (Rgb{0x05, 0x30, 0x61}));
}

TEST(Colormap, PlacesOutsideAreClampedAndOneIsTheLastColor) {
  const Colormap& map = find_colormap("viridis");
  EXPECT_EQ(map.at(-3), map.colors.front());
  EXPECT_EQ(map.at(std::nan("")), map.colors.front());
  EXPECT_EQ(map.at(1), map.colors.back());
  EXPECT_EQ(map.at(1e300), map.colors.back());
  EXPECT_EQ(map.at(255.0 / 256), map.colors[255]);
  EXPECT_EQ(map.at(0.5), map.colors[128]);
}

/// Rises or falls all the way; a diverging map does on each side of its middle.
TEST(Colormap, LuminanceIsMonotone) {
  for (const Colormap& map : colormaps()) {
    const std::size_t turn = map.diverging ? 128 : 255;
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, turn}, {map.diverging ? 128 : 255, 255}}) {
      if (begin == end) continue;
      const bool rises = relative_luminance(map.colors[end]) > relative_luminance(map.colors[begin]);
      for (std::size_t i = begin; i < end; ++i) {
        const double step = relative_luminance(map.colors[i + 1]) - relative_luminance(map.colors[i]);
        // 8 bits a channel leave steps of less than a thousandth the wrong way.
        EXPECT_GE(rises ? step : -step, -1e-3) << map.name << " at " << i;
      }
    }
  }
}

TEST(Colormap, NumbersReadWellOnEveryColor) {
  for (const Colormap& map : colormaps())
    for (const Rgb color : map.colors) EXPECT_GE(contrast(color, contrasting(color)), 4.5) << map.name;
  EXPECT_EQ(contrasting({255, 255, 255}), (Rgb{0, 0, 0}));
  EXPECT_EQ(contrasting({0, 0, 0}), (Rgb{255, 255, 255}));
}

TEST(Colormap, CellsWithoutValueHaveColorsThatNoValueHas) {
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const CellKind kind : {CellKind::blocked, CellKind::empty, CellKind::nan}) {
      const Hatch& hatch = theme_colors(theme).hatch(kind);
      for (const Colormap& map : colormaps())
        for (const Rgb color : map.colors) {
          EXPECT_NE(color, hatch.ground) << map.name;
          EXPECT_NE(color, hatch.line) << map.name;
        }
    }
}

TEST(Colormap, TextOfTheThemesReadsWell) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    EXPECT_GE(contrast(theme_colors(theme).ink, theme_colors(theme).paper), 7);
    EXPECT_GE(contrast(theme_colors(theme).faint, theme_colors(theme).paper), 4.5);
  }
}

TEST(Colormap, UnknownNamesAreAnsweredWithTheNearest) {
  const test::Failure failure = failure_of([] { find_colormap("virdis"); });
  EXPECT_EQ(failure.kind, ErrorKind::usage);
  EXPECT_NE(failure.message.find("'virdis'"), std::string::npos);
  EXPECT_NE(failure.hint.find("'viridis'"), std::string::npos);
}

}  // namespace
}  // namespace attn
