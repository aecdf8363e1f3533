#include "render/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "picture_support.hpp"

namespace attn {
namespace {

using test::failure_of;
using test::spec_of;

constexpr double kPixels = 192 / 72.0;

Layout layout_of(const PictureSpec& spec) {
  FigureSpec figure = figure_spec(spec);
  Fonts fonts("");
  return plan_layout(figure, (spec.options.dpi > 0 ? spec.options.dpi : 192) / 72.0, fonts);
}

std::vector<std::string> tokens(Index count, const std::string& stem) {
  std::vector<std::string> made;
  for (Index i = 0; i < count; ++i) made.push_back(stem + std::to_string(i));
  return made;
}

PictureSpec labelled(Index queries, Index keys, const std::string& stem = "t") {
  PictureSpec spec = spec_of(Shape{queries, keys});
  spec.layers[0].labels = {tokens(queries, stem), tokens(keys, stem)};
  return spec;
}

/// Sides of a label as drawn, from its anchor: for checks that nothing is cut off.
void expect_inside(const Layout& layout) {
  for (const PlacedText& text : layout.texts) {
    const double half = text.text.size / 2, along = text.anchor == Anchor::center ? text.text.width / 2 : text.text.width;
    if (text.angle == 0) {
      EXPECT_GE(text.x - (text.anchor == Anchor::left ? 0 : along), -1);
      EXPECT_LE(text.x + (text.anchor == Anchor::right ? 0 : along), static_cast<double>(layout.width) + 1);
      EXPECT_GE(text.y - half, 0);
      EXPECT_LE(text.y + half, static_cast<double>(layout.height));
    } else {
      EXPECT_GE(text.x - half, 0);
      EXPECT_LE(text.x + half, static_cast<double>(layout.width));
      EXPECT_GE(text.y - along, -1);
      EXPECT_LE(text.y + along, static_cast<double>(layout.height) + 1);
    }
  }
  for (const AxisLabel& label : layout.labels.query) EXPECT_LE(label.text.width, layout.labels.query_extent);
  for (const PanelPlace& panel : layout.panels) {
    EXPECT_GE(static_cast<double>(panel.x), panel.query_labels ? layout.labels.query_extent : 0);
    EXPECT_LE(panel.x + layout.cells.panel_width(), layout.width);
    EXPECT_LE(panel.y + layout.cells.panel_height(), layout.height);
  }
}

TEST(CellPlan, FewTokensGetLargeCellsAndManyFillTheArea) {
  EXPECT_EQ(layout_of(labelled(4, 4)).cells.cell_width, 112);  // 42 points
  EXPECT_EQ(layout_of(labelled(64, 64)).cells.cell_width, 18);
  for (const Index n : {1, 4, 12, 64, 200, 512, 1000}) {
    const Layout layout = layout_of(labelled(n, n));
    EXPECT_EQ(layout.cells.block_keys, 1) << n;
    EXPECT_EQ(layout.cells.cell_width, layout.cells.cell_height) << n;
    EXPECT_LE(layout.width, 1600) << n;
    expect_inside(layout);
  }
}

TEST(CellPlan, CellsBelowAPixelAreGathered) {
  for (const auto& [n, block] : {std::pair<Index, Index>{1200, 1}, {1400, 1}, {2048, 2}, {4096, 4}, {8192, 7}, {32768, 28}}) {
    const Layout layout = layout_of(spec_of(Shape{n, n}));
    EXPECT_EQ(layout.cells.block_queries, block) << n;
    EXPECT_EQ(layout.cells.block_keys, block) << n;
    EXPECT_EQ(layout.cells.cell_width, 1) << n;
    EXPECT_EQ(layout.cells.columns, (n + block - 1) / block) << n;
    EXPECT_LE(layout.width, 1700) << n;
  }
}

TEST(CellPlan, LongThinMatricesStayReadable) {
  const Layout row = layout_of(spec_of(Shape{1, 5000}));
  EXPECT_EQ(row.cells.block_queries, 1);
  EXPECT_EQ(row.cells.block_keys, 5);
  EXPECT_EQ(row.cells.panel_height(), 96);
  EXPECT_FALSE(row.bar.vertical);
  const Layout column = layout_of(spec_of(Shape{5000, 1}));
  EXPECT_EQ(column.cells.panel_width(), 96);
  EXPECT_EQ(column.cells.block_queries, 5);
  expect_inside(row);
  expect_inside(column);
}

TEST(CellPlan, OptionsDecideTheSize) {
  PictureSpec spec = labelled(5, 7);
  spec.options.cell_pixels = 23;
  EXPECT_EQ(layout_of(spec).cells.cell_width, 23);
  spec.options.cell_pixels.reset();
  for (const int width : {500, 801, 2000}) {
    spec.options.width_pixels = width;
    const Layout layout = layout_of(spec);
    EXPECT_EQ(layout.width, width);
    // Another pixel in each cell would not have fitted, or hardly.
    EXPECT_LT(width - layout.cells.width() - layout.labels.query_extent, 300 + layout.cells.columns);
    expect_inside(layout);
  }
  spec.options.cell_pixels = 10;
  EXPECT_EQ(failure_of([&] { layout_of(spec); }).kind, ErrorKind::usage);
}

TEST(CellPlan, DotsPerInchScaleEverything) {
  PictureSpec spec = labelled(4, 4);
  spec.options.dpi = 96;
  const Layout half = layout_of(spec);
  spec.options.dpi = 192;
  const Layout whole = layout_of(spec);
  EXPECT_EQ(2 * half.cells.cell_width, whole.cells.cell_width);
  EXPECT_NEAR(2.0 * static_cast<double>(half.width), static_cast<double>(whole.width), 8);
}

TEST(Layout, ManyHeadsMakeAGridWithOuterLabels) {
  PictureSpec spec = labelled(6, 6);
  spec.layers[0].shape = {12, 6, 6};
  const Layout layout = layout_of(spec);
  ASSERT_EQ(layout.panels.size(), 12u);
  EXPECT_EQ(layout.cells.panel_columns, 4);
  EXPECT_EQ(layout.cells.panel_rows, 3);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(layout.panels[i].query_labels, i % 4 == 0);
    EXPECT_EQ(layout.panels[i].key_labels, i >= 8);
  }
  EXPECT_EQ(layout.panels[5].y, layout.panels[4].y);
  EXPECT_GE(layout.panels[5].x, layout.panels[4].x + layout.cells.panel_width() + layout.cells.gap_x);
  expect_inside(layout);
}

TEST(Layout, AnUnfinishedLastRowLeavesNoPanelUnlabelled) {
  PictureSpec spec = labelled(4, 4);
  spec.layers[0].shape = {5, 4, 4};
  const Layout layout = layout_of(spec);
  EXPECT_EQ(layout.cells.panel_columns, 3);
  EXPECT_EQ(std::count_if(layout.panels.begin(), layout.panels.end(), [](const PanelPlace& p) { return p.key_labels; }), 3);
  EXPECT_TRUE(layout.panels[2].key_labels);
}

TEST(Layout, BatchesStandBelowEachOther) {
  PictureSpec spec = spec_of(Shape{3, 4, 6, 6});
  const FigureSpec figure = figure_spec(spec);
  EXPECT_EQ(figure.panel_titles[5], "batch 1, head 1");
  EXPECT_EQ(layout_of(spec).cells.panel_columns, 4);
}

TEST(FigureSpec, TitlesTellHeadsByTheirNumbers) {
  PictureSpec spec = spec_of(Shape{2, 3, 3});
  spec.layers[0].heads = {0, 7};
  EXPECT_EQ(figure_spec(spec).panel_titles, (std::vector<std::string>{"head 0", "head 7"}));
  spec.layers[0].heads = {};
  spec.layers[0].reduced = true;
  EXPECT_EQ(figure_spec(spec).panel_titles, (std::vector<std::string>{"batch 0", "batch 1"}));
  spec = spec_of(Shape{3, 3});
  EXPECT_TRUE(figure_spec(spec).panel_titles.empty());
  spec.layers[0].heads = {5};
  EXPECT_EQ(figure_spec(spec).panel_titles, (std::vector<std::string>{"head 5"}));
}

TEST(FigureSpec, RefusesWhatCannotBeDrawn) {
  for (const Shape& shape : {Shape{5}, Shape{}, Shape{1, 1, 1, 2, 2}})
    EXPECT_EQ(failure_of([&] { figure_spec(spec_of(shape)); }).kind, ErrorKind::usage);
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 2, 2}})
    EXPECT_EQ(failure_of([&] { figure_spec(spec_of(shape)); }).kind, ErrorKind::mismatch);
  EXPECT_EQ(failure_of([&] {
              figure_spec(spec_of(Shape{0, 5}));
            }).message,
            "an array of shape [0,5] has no rows, nothing to draw");
  PictureSpec two = spec_of(Shape{2, 2});
  two.layers.push_back(two.layers[0]);
  EXPECT_EQ(failure_of([&] { figure_spec(two); }).message, "this picture shows one array, 2 were given");
  PictureSpec labels = labelled(3, 3);
  labels.layers[0].labels.key_tokens.pop_back();
  EXPECT_EQ(failure_of([&] { figure_spec(labels); }).message, "2 key tokens for 3 key positions");
  PictureSpec digits = spec_of(Shape{2, 2});
  digits.options.digits = 18;
  EXPECT_EQ(failure_of([&] { figure_spec(digits); }).message, "--digits is 18, it must be from 0 to 17");
}

TEST(Layout, RefusesSidesBeyondTheLimitAndSaysWhatToDo) {
  PictureSpec spec = spec_of(Shape{32768, 32768});
  spec.options.cell_pixels = 1;
  const test::Failure failure = failure_of([&] { layout_of(spec); });
  EXPECT_EQ(failure.kind, ErrorKind::usage);
  EXPECT_NE(failure.message.find("32768×32768 pixels, no side may be longer than 16384"), std::string::npos) << failure.message;
  EXPECT_NE(failure.hint.find("--cell"), std::string::npos);
  PictureSpec narrow = labelled(4, 4);
  narrow.options.width_pixels = 60;
  const std::string message = failure_of([&] { layout_of(narrow); }).message;
  const std::size_t at = message.find("use --width ");
  ASSERT_NE(at, std::string::npos) << message;
  const int least = std::atoi(message.c_str() + at + 12);
  narrow.options.width_pixels = least;
  EXPECT_EQ(layout_of(narrow).width, least);
  narrow.options.width_pixels = least - 1;
  EXPECT_EQ(failure_of([&] { layout_of(narrow); }).kind, ErrorKind::usage);
}

TEST(AxisLabels, LieFlatThenSlantThenStand) {
  EXPECT_EQ(layout_of(labelled(4, 4)).labels.key_angle, 0);
  EXPECT_EQ(layout_of(labelled(12, 12, "a longer token ")).labels.key_angle, 45);
  EXPECT_EQ(layout_of(labelled(60, 60, "longer ")).labels.key_angle, 90);
  // Single characters stand upright wherever they are shown at all.
  for (const Index count : {12, 31, 60, 200}) {
    PictureSpec spec = labelled(count, count);
    for (auto* tokens : {&spec.layers.front().labels.query_tokens, &spec.layers.front().labels.key_tokens})
      for (std::string& token : *tokens) token = "注";
    const Layout layout = layout_of(spec);
    EXPECT_EQ(layout.labels.key_angle, 0) << count;
    for (std::size_t i = 1; i < layout.labels.key.size(); ++i) {
      const double room =
          static_cast<double>(layout.labels.key[i].index - layout.labels.key[i - 1].index) * layout.cells.key_pitch();
      EXPECT_LE(layout.labels.key[i].text.width, room) << count;
    }
  }
  expect_inside(layout_of(labelled(12, 12, "a longer token ")));
}

TEST(AxisLabels, AreThinnedAlikeOnBothAxes) {
  const Layout layout = layout_of(labelled(512, 512));
  EXPECT_EQ(layout.labels.every, 10);
  EXPECT_EQ(layout.labels.query.size(), 52u);
  EXPECT_EQ(layout.labels.key[1].index, 10);
  const Layout uneven = layout_of(labelled(40, 500));
  EXPECT_EQ(uneven.labels.query[1].index, uneven.labels.key[1].index);
  // No two labels overlap.
  EXPECT_GE(static_cast<double>(layout.labels.every) * layout.cells.query_pitch(), 1.15 * layout.labels.size);
  const auto said = std::find_if(layout.footer.begin(), layout.footer.end(),
                                 [](const FooterItem& item) { return item.kind == CellKind::value; });
  EXPECT_NE(said, layout.footer.end());
}

TEST(AxisLabels, NumbersHaveRoundSteps) {
  for (const Index n : {100, 512, 2048, 5000, 32768}) {
    Index every = layout_of(spec_of(Shape{n, n})).labels.every;
    while (every % 10 == 0) every /= 10;
    EXPECT_TRUE(every == 1 || every == 2 || every == 5) << n;
  }
}

TEST(AxisLabels, NumbersOfNeighbouringPanelsStayApart) {
  const Layout layout = layout_of(spec_of(Shape{12, 2048, 2048}));
  const AxisLabel &first = layout.labels.key.front(), &last = layout.labels.key.back();
  EXPECT_EQ(last.index, 1500);
  const double end = (static_cast<double>(last.index) + 0.5) * layout.cells.key_pitch() + last.text.width / 2;
  EXPECT_LT(end, static_cast<double>(layout.cells.panel_width() + layout.cells.gap_x) - first.text.width / 2);
}

TEST(AxisLabels, OptionsChooseThem) {
  PictureSpec spec = labelled(300, 300);
  spec.options.labels = LabelMode::none;
  EXPECT_TRUE(layout_of(spec).labels.key.empty());
  spec.options.labels = LabelMode::all;
  EXPECT_EQ(layout_of(spec).labels.key.size(), 300u);
  EXPECT_GE(layout_of(spec).cells.cell_width, 18);  // so that they can be read
  spec.options.labels = LabelMode::every;
  spec.options.label_every = 77;
  EXPECT_EQ(layout_of(spec).labels.query.size(), 4u);
}

TEST(AxisLabels, LongTokensAreCutAndTheCellsKeepTheirSize) {
  PictureSpec spec = labelled(4, 4);
  spec.layers[0].labels.query_tokens[2] = std::string(200, 'x');
  spec.layers[0].labels.key_tokens[1] = std::string(100'000, 'w');
  const Layout layout = layout_of(spec);
  EXPECT_EQ(layout.cells.cell_width, 112);
  for (const AxisLabel& label : layout.labels.query) EXPECT_LE(label.text.width, 96 * kPixels + 1);
  for (const AxisLabel& label : layout.labels.key) EXPECT_LE(label.text.width, 80 * kPixels + 1);
  expect_inside(layout);
}

TEST(AxisLabels, CutLabelsEndAsCloseToTheirCellsAsOthers) {
  PictureSpec spec = labelled(5, 5);
  std::vector<std::string>& tokens = spec.layers[0].labels.query_tokens;
  tokens = {"n", std::string(60, 'a'), "mixed words that are much too long for this label", std::string(60, 'W'), "n"};
  for (int i = 0; i < 8; ++i) tokens[4] += "貓貓貓貓";
  const Layout layout = layout_of(spec);
  const test::Png png = test::read_png(test::render("png", spec, test::Matrix::of(5, 5, [](Index, Index) { return 0.5; })));
  const PanelPlace& panel = layout.panels.front();
  const auto gap = [&](Index row) {  // from the left side of the cells to the nearest ink of the label
    for (Index x = panel.x - 4; x > 0; --x)
      for (Index y = panel.y + row * layout.cells.cell_height; y < panel.y + (row + 1) * layout.cells.cell_height; ++y)
        if (png.at(x, y).red < 128) return panel.x - x;
    return panel.x;
  };
  for (Index row = 1; row < 5; ++row) EXPECT_NEAR(static_cast<double>(gap(row)), static_cast<double>(gap(0)), 4) << row;
}

TEST(Layout, LongTitlesAreBrokenIntoLines) {
  PictureSpec spec = labelled(4, 4);
  spec.options.title = "The cat";
  const Index one_line = layout_of(spec).height;
  spec.options.title = "The cat is cute and this title is much longer than the figure is wide, it needs a second line";
  const Layout layout = layout_of(spec);
  EXPECT_GT(layout.height, one_line);
  expect_inside(layout);
  spec.options.title = std::string(300, 'M');
  expect_inside(layout_of(spec));
}

TEST(Layout, SaysHowCellsArePooled) {
  CellPlan cells;
  EXPECT_EQ(pooling_text(cells, {}, false), "");
  cells.block_queries = cells.block_keys = 16;
  EXPECT_EQ(pooling_text(cells, {}, false), "1 px = max of 16×16");
  EXPECT_EQ(pooling_text(cells, {}, true), "1 px = largest magnitude of 16×16");
  PictureOptions mean;
  mean.pool = Pool::mean;
  EXPECT_EQ(pooling_text(cells, mean, true), "1 px = mean of 16×16");
}

}  // namespace
}  // namespace attn
