#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "picture_support.hpp"
#include "render/layout.hpp"
#include "render/stb_image_write.hpp"
#include "render/theme.hpp"

namespace attn {
namespace {

using test::failure_of;
using test::Matrix;
using test::Png;
using test::read_png;
using test::render;
using test::spec_of;

Layout layout_of(const PictureSpec& spec) {
  Fonts fonts("");
  return plan_layout(figure_spec(spec), 192 / 72.0, fonts);
}

/// The pixel `share` of the way through a cell; 0 is its first and 1 its last pixel.
Rgb cell_pixel(const Png& png, const Layout& layout, Index row, Index column, double share_x, double share_y,
               std::size_t panel = 0) {
  const CellPlan& cells = layout.cells;
  const auto inside = [](Index size, double share) { return static_cast<Index>(share * static_cast<double>(size - 1)); };
  return png.at(layout.panels[panel].x + column * cells.cell_width + inside(cells.cell_width, share_x),
                layout.panels[panel].y + row * cells.cell_height + inside(cells.cell_height, share_y));
}

Rgb viridis(double place) {
  return find_colormap("viridis").colors[static_cast<std::size_t>(std::min(255.0, std::floor(place * 256)))];
}

Matrix softmax_like(Index n, Index m) {
  return Matrix::of(n, m, [&](Index i, Index j) { return static_cast<double>((i * 31 + j * 17) % 101) / 100; });
}

TEST(Png, CellsAreExactAtTheirCentersAndCorners) {
  for (const auto& [n, m] : {std::pair<Index, Index>{4, 4}, {3, 7}, {12, 12}, {50, 40}, {1, 30}}) {
    const Matrix matrix = softmax_like(n, m);
    const double largest = *std::max_element(matrix.values.begin(), matrix.values.end());
    const PictureSpec spec = spec_of(matrix);
    const Layout layout = layout_of(spec);
    const Png png = read_png(render("png", spec, matrix));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j) {
        const Rgb want = viridis(matrix.values[static_cast<std::size_t>(i * m + j)] / largest);
        for (const auto& [x, y] : {std::pair<double, double>{0, 0}, {1, 0}, {0, 1}, {1, 1}})
          EXPECT_EQ(cell_pixel(png, layout, i, j, x, y), want) << n << "x" << m << " at " << i << "," << j;
      }
  }
}

TEST(Png, NumbersLeaveTheCenterOfTheirCell) {
  const Matrix matrix = softmax_like(7, 7);
  PictureSpec spec = spec_of(matrix);
  spec.options.vmax = 1;
  for (const int digits : {1, 2, 3}) {
    spec.options.digits = digits;
    const Layout layout = layout_of(spec);
    const Png png = read_png(render("png", spec, matrix));
    int inked = 0;
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j < 7; ++j) {
        const Rgb want = viridis(matrix.values[static_cast<std::size_t>(i * 7 + j)]);
        EXPECT_EQ(cell_pixel(png, layout, i, j, 0.5, 0.5), want) << digits << " digits at " << i << "," << j;
        for (double x = 0; x <= 1; x += 0.02) inked += cell_pixel(png, layout, i, j, x, 0.5) == want ? 0 : 1;
      }
    EXPECT_GT(inked, 49) << "no numbers were drawn";
  }
}

TEST(Png, NumbersKeepClearOfTheBordersOfTheirCells) {
  const Matrix matrix = softmax_like(9, 9);
  PictureSpec spec = spec_of(matrix);
  spec.options.vmax = 1;
  int drawn = 0;
  for (Index cell = 18; cell <= 52; ++cell) {
    spec.options.cell_pixels = cell;
    const Layout layout = layout_of(spec);
    const Png png = read_png(render("png", spec, matrix));
    // A twentieth, up to the half pixel by which letters are moved to whole ones.
    const Index margin = std::max<Index>(1, (cell - 10) / 20);
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 9; ++j) {
        const Rgb want = viridis(matrix.values[static_cast<std::size_t>(i * 9 + j)]);
        for (Index y = 0; y < cell; ++y)
          for (Index x = 0; x < cell; ++x) {
            const Rgb got = png.at(layout.panels[0].x + j * cell + x, layout.panels[0].y + i * cell + y);
            if (got == want) continue;
            ++drawn;
            EXPECT_TRUE(x >= margin && x < cell - margin) << cell << " pixels: " << i << "," << j << " at " << x;
          }
      }
  }
  EXPECT_GT(drawn, 0);
}

TEST(Png, NumbersDependOnTheOption) {
  const Matrix matrix = softmax_like(4, 4);
  PictureSpec spec = spec_of(matrix);
  spec.options.annotate = Annotate::never;
  const Layout layout = layout_of(spec);
  const Png png = read_png(render("png", spec, matrix));
  for (double share = 0; share <= 1; share += 0.01)
    EXPECT_EQ(cell_pixel(png, layout, 2, 1, share, 0.5), cell_pixel(png, layout, 2, 1, 0, 0));
}

TEST(Png, NumbersNeedRoomUnlessPixelsAreAskedFor) {
  const Matrix matrix = softmax_like(40, 40);
  PictureSpec spec = spec_of(matrix);
  const auto has_numbers = [&] {
    const Layout layout = layout_of(spec);
    const Png png = read_png(render("png", spec, matrix));
    for (double share = 0; share <= 1; share += 0.05)
      if (cell_pixel(png, layout, 20, 13, share, 0.5) != cell_pixel(png, layout, 20, 13, 0, 0)) return true;
    return false;
  };
  spec.options.dpi = 192;
  EXPECT_TRUE(has_numbers());  // cells of 30 pixels hold 11 pixels of print, 4.2 points
  spec.options.cell_pixels = 21;
  EXPECT_TRUE(has_numbers());  // the widest number takes between 17 and 18 pixels at 7 pixels, the margins 3
  spec.options.cell_pixels = 20;
  EXPECT_FALSE(has_numbers());
}

TEST(Png, ConstantMatricesAreOneColor) {
  const Matrix matrix = Matrix::of(5, 5, [](Index, Index) { return 0.2; });
  PictureSpec spec = spec_of(matrix);
  spec.options.annotate = Annotate::never;
  const Layout layout = layout_of(spec);
  const Png png = read_png(render("png", spec, matrix));
  for (Index y = 0; y < layout.cells.panel_height(); ++y)
    for (Index x = 0; x < layout.cells.panel_width(); ++x)
      ASSERT_EQ(png.at(layout.panels[0].x + x, layout.panels[0].y + y), find_colormap("viridis").colors.back());
}

TEST(Png, BlockedEmptyAndNanCellsLookLikeNoValue) {
  Matrix matrix = softmax_like(6, 6);
  matrix.values[5 * 6 + 1] = std::nan("");
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const std::string& map : colormap_names()) {
      PictureSpec spec = spec_of(matrix);
      const test::CausalVisibility causal(6, 2);
      spec.layers[0].visibility = &causal;
      spec.options.theme = theme;
      spec.options.colormap = map;
      const Layout layout = layout_of(spec);
      const Png png = read_png(render("png", spec, matrix));
      const Colormap& colors = find_colormap(map);
      for (const auto& [row, column] : {std::pair<Index, Index>{0, 3}, {2, 1}, {2, 5}, {5, 1}})
        for (Index y = 0; y < layout.cells.cell_height; ++y)
          for (Index x = 0; x < layout.cells.cell_width; ++x) {
            const Rgb pixel = png.at(layout.panels[0].x + column * layout.cells.cell_width + x,
                                     layout.panels[0].y + row * layout.cells.cell_height + y);
            ASSERT_EQ(std::count(colors.colors.begin(), colors.colors.end(), pixel), 0) << map;
          }
      EXPECT_NE(cell_pixel(png, layout, 0, 3, 0, 0), cell_pixel(png, layout, 2, 3, 0, 0));
    }
}

TEST(Png, PanelsShareOneScale) {
  const Matrix matrix = Matrix::of(8, 4, [](Index i, Index) { return i < 4 ? 0.25 : 1.0; });
  PictureSpec spec = spec_of(Shape{2, 4, 4});
  const Layout layout = layout_of(spec);
  const Png png = read_png(render("png", spec, matrix, 3));
  EXPECT_EQ(cell_pixel(png, layout, 1, 2, 0, 0, 0), viridis(0.25));
  EXPECT_EQ(cell_pixel(png, layout, 1, 2, 0, 0, 1), viridis(1));
}

TEST(Png, PeaksSurviveBeingPooled) {
  const Index n = 2500;
  const Matrix matrix = Matrix::of(n, n, [&](Index i, Index j) { return i == j ? 1.0 : i == 100 && j == 2000 ? 0.5 : 0.0; });
  const PictureSpec spec = spec_of(matrix);
  const Layout layout = layout_of(spec);
  ASSERT_EQ(layout.cells.block_keys, 3);
  const Png png = read_png(render("png", spec, matrix, 64));
  for (Index i = 0; i < layout.cells.rows; ++i) EXPECT_EQ(cell_pixel(png, layout, i, i, 0, 0), viridis(1));
  EXPECT_EQ(cell_pixel(png, layout, 33, 666, 0, 0), viridis(0.5));
  EXPECT_EQ(cell_pixel(png, layout, 33, 667, 0, 0), viridis(0));
  EXPECT_TRUE(png.has_text("1 px = max of 3×3"));
}

TEST(Png, NegativePeaksSurviveToo) {
  const Index n = 2400;
  const Matrix matrix = Matrix::of(n, n, [&](Index i, Index j) { return i == j ? -2.0 : 0.5; });
  const PictureSpec spec = spec_of(matrix);
  const Layout layout = layout_of(spec);
  const Png png = read_png(render("png", spec, matrix, 64));
  EXPECT_EQ(cell_pixel(png, layout, 50, 50, 0, 0), find_colormap("RdBu").colors.front());
  EXPECT_TRUE(png.has_text("largest magnitude"));
}

TEST(Png, FileIsWholeAndSaysWhatItShows) {
  const Matrix matrix = softmax_like(4, 4);
  PictureSpec spec = spec_of(matrix);
  spec.options.title = "Żółw <1>";
  spec.options.dpi = 300;
  const std::string bytes = render("png", spec, matrix);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), "IEND");
  const Png png = read_png(bytes);
  EXPECT_TRUE(png.checksums_right);
  EXPECT_TRUE(png.has_text("attn-cli 0.0.0"));
  EXPECT_TRUE(png.has_text("linear viridis"));
  EXPECT_TRUE(png.has_text("Żółw <1>"));
  const std::string physical = png.chunks.find("pHYs")->second;
  EXPECT_EQ(test::big_endian(physical, 0), 11811u);  // 300 / 0.0254
  EXPECT_EQ(test::big_endian(physical, 4), 11811u);
  EXPECT_EQ(physical[8], 1);
  // Both come before the pixels, as the specification wants of pHYs.
  EXPECT_LT(bytes.find("pHYs"), bytes.find("IDAT"));
}

TEST(Png, SameInputSameBytes) {
  const Matrix matrix = softmax_like(9, 9);
  PictureSpec spec = spec_of(matrix);
  spec.layers[0].labels.query_tokens =
      spec.layers[0].labels.key_tokens = {"這", "隻", "貓", "很", "可愛", "cat", "the", "a", "b"};
  const std::string first = render("png", spec, matrix, 9);
  EXPECT_EQ(render("png", spec, matrix, 9), first);
  EXPECT_EQ(render("png", spec, matrix, 1), first);
  std::string other;
  std::thread([&] { other = render("png", spec, matrix, 4); }).join();
  EXPECT_EQ(other, first);
}

TEST(Png, SizesAreCheckedBeforeTheEncoder) {
  const std::uint8_t pixel[3] = {1, 2, 3};
  for (const auto& [width, height] :
       {std::pair<Index, Index>{0, 5}, {5, 0}, {-1, 3}, {3, -1}, {50000, 85899}, {Index{1} << 40, 1}, {1, Index{1} << 40}}) {
    const test::Failure failure = failure_of([&, w = width, h = height] { encode_png(pixel, w, h); });
    EXPECT_EQ(failure.kind, ErrorKind::usage) << width << "x" << height;
  }
  EXPECT_EQ(read_png(encode_png(pixel, 1, 1)).at(0, 0), (Rgb{1, 2, 3}));
}

TEST(Png, MemoryIsAskedForBeforeTheRows) {
  test::TextSink sink;
  const PictureSpec spec = spec_of(Shape{64, 64});
  const test::Failure failure = failure_of([&] { make_picture("png", spec, sink, MemoryBudget(1'000'000)); });
  EXPECT_EQ(failure.kind, ErrorKind::memory);
}

TEST(Png, TokensOfAllKindsAreDrawn) {
  const std::vector<std::string> tokens = {"</script><img src=x onerror=alert(1)>",
                                           "\x1b[2J",
                                           "\u202eabc",
                                           "👨\u200d👩\u200d👧",
                                           std::string(200, 'x'),
                                           "",
                                           "\n",
                                           "القطة",
                                           std::string("a\0b", 3),
                                           "\xff"};
  const Matrix matrix = softmax_like(10, 10);
  PictureSpec spec = spec_of(matrix);
  spec.layers[0].labels = {tokens, tokens};
  const Png png = read_png(render("png", spec, matrix));
  const Layout layout = layout_of(spec);
  // Every row has ink between the axis title and the cells.
  for (Index row = 0; row < 10; ++row) {
    int ink = 0;
    for (Index y = 0; y < layout.cells.cell_height; ++y)
      for (Index x = layout.panels[0].x - 60; x < layout.panels[0].x - 8; ++x)
        ink += png.at(x, layout.panels[0].y + row * layout.cells.cell_height + y).green < 128 ? 1 : 0;
    EXPECT_GT(ink, 5) << "row " << row;
  }
}

}  // namespace
}  // namespace attn
