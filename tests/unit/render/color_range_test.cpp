#include "render/color_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "picture_support.hpp"

namespace attn {
namespace {

using test::failure_of;

PooledCells cells_of(const std::vector<double>& values, Index block = 1) {
  const Index count = static_cast<Index>(values.size());
  PooledCells cells({1, 1, count, 1, block, false}, nullptr, MemoryBudget());
  std::string encoded;
  cells.encode({0, 1, count, DType::f64, values.data(), count}, encoded);
  cells.append(encoded);
  cells.finish();
  return cells;
}

ColorRange range_of(const std::vector<double>& values, const PictureOptions& options = {}) {
  return ColorRange(options, cells_of(values));
}

TEST(ColorRange, GoesFromZeroToTheLargestValue) {
  const ColorRange range = range_of({0.25, 0.75});
  EXPECT_EQ(range.low(), 0);
  EXPECT_EQ(range.high(), 0.75);
  EXPECT_EQ(range.map().name, "viridis");
  EXPECT_EQ(range.color(0.75), range.map().colors.back());
  EXPECT_EQ(range.color(0), range.map().colors.front());
  EXPECT_DOUBLE_EQ(range.place(0.25), 1.0 / 3);
  EXPECT_FALSE(range.below() || range.above() || range.by_magnitude());
}

TEST(ColorRange, NegativeValuesMakeItSymmetricAndDiverging) {
  const ColorRange range = range_of({-3, 1, 2});
  EXPECT_EQ(range.low(), -3);
  EXPECT_EQ(range.high(), 3);
  EXPECT_EQ(range.map().name, "RdBu");
  EXPECT_EQ(range.place(0), 0.5);
  EXPECT_TRUE(range.by_magnitude());
  EXPECT_EQ(range.shown(2, -3), -3);
  EXPECT_EQ(range.shown(4, -3), 4);
}

TEST(ColorRange, AnOptionFixesTheMap) {
  PictureOptions options;
  options.colormap = "magma";
  EXPECT_EQ(range_of({-1, 1}, options).map().name, "magma");
  EXPECT_EQ(range_of({-1, 0.5}, options).high(), 1);
}

TEST(ColorRange, BoundsClampAndSaySo) {
  PictureOptions options;
  options.vmin = 0.2;
  options.vmax = 0.6;
  const ColorRange range = range_of({0.1, 0.4, 0.9}, options);
  EXPECT_TRUE(range.below());
  EXPECT_TRUE(range.above());
  EXPECT_EQ(range.place(0.1), 0);
  EXPECT_EQ(range.place(0.9), 1);
  EXPECT_DOUBLE_EQ(range.place(0.4), 0.5);
  const ColorRange inside = range_of({0.3, 0.6}, options);
  EXPECT_FALSE(inside.below() || inside.above());
}

TEST(ColorRange, CenterOfDifferences) {
  PictureOptions options;
  options.center = 1;
  const ColorRange range = range_of({0.5, 3}, options);
  EXPECT_EQ(range.map().name, "RdBu");
  EXPECT_EQ(range.low(), -1);
  EXPECT_EQ(range.high(), 3);
  EXPECT_EQ(range.place(1), 0.5);
  EXPECT_EQ(range.shown(3, -2), -2);  // 3 from the centre, not 2
  options.vmin = 0;
  options.vmax = 5;
  const ColorRange uneven = range_of({0.5, 3}, options);
  EXPECT_EQ(uneven.place(1), 0.5);
  EXPECT_DOUBLE_EQ(uneven.place(0.5), 0.25);
  EXPECT_DOUBLE_EQ(uneven.place(3), 0.75);
}

TEST(ColorRange, SquareRootAndLog) {
  PictureOptions options;
  options.color_scale = ColorScale::sqrt;
  EXPECT_DOUBLE_EQ(range_of({0.25, 1}, options).place(0.25), 0.5);
  EXPECT_DOUBLE_EQ(range_of({-1, 0.25}, options).place(-0.25), 0.25);
  options.color_scale = ColorScale::log;
  const ColorRange log = range_of({0.01, 0.1, 1}, options);
  EXPECT_EQ(log.low(), 0.01);
  EXPECT_DOUBLE_EQ(log.place(0.1), 0.5);
  EXPECT_FALSE(log.below());
  const ColorRange deep = range_of({0, 1e-30, 1}, options);
  EXPECT_DOUBLE_EQ(deep.low(), 1e-4);
  EXPECT_TRUE(deep.below());
  EXPECT_EQ(deep.place(0), 0);
}

TEST(ColorRange, NothingDividesByZero) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(range_of({0, 0}).place(0), 0);
  EXPECT_EQ(range_of({0.125, 0.125}).place(0.125), 1);
  EXPECT_EQ(range_of({nan, nan}).high(), 1);
  const ColorRange beyond = range_of({infinity, 0.5});
  EXPECT_EQ(beyond.high(), 0.5);
  EXPECT_TRUE(beyond.above());
  EXPECT_EQ(beyond.color(infinity), beyond.map().colors.back());
  const ColorRange huge = range_of({-1.7e308, 1.7e308});
  EXPECT_NEAR(huge.place(0), 0.5, 1e-12);
  EXPECT_EQ(huge.place(1.7e308), 1);
  const ColorRange tiny = range_of({5e-324, 0});
  EXPECT_EQ(tiny.place(5e-324), 1);
  PictureOptions log;
  log.color_scale = ColorScale::log;
  EXPECT_EQ(range_of({0, 0}, log).place(0), 0);
  EXPECT_EQ(range_of({0.3, 0.3}, log).place(0.3), 1);
}

TEST(ColorRange, BoundsAtTheEndsOfTheNumbersStayNumbers) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const double bound : {5e-324, 1e-300, 1e300, 1.7e308, kMost, -1.7e308, -kMost})
    for (const ColorScale scale : {ColorScale::linear, ColorScale::sqrt, ColorScale::log})
      for (const auto option : {&PictureOptions::vmin, &PictureOptions::vmax, &PictureOptions::center}) {
        PictureOptions options;
        options.color_scale = scale;
        options.*option = bound;
        if (scale == ColorScale::log && (bound < 0 || option == &PictureOptions::center)) continue;
        const ColorRange range = range_of({0.25, 0.5, 5e-324, 1.7e308}, options);
        EXPECT_TRUE(std::isfinite(range.low()) && std::isfinite(range.high())) << bound;
        for (const double value : {0.0, 0.3, 1.6e308, -1.6e308}) {
          const double place = range.place(value);
          EXPECT_TRUE(place >= 0 && place <= 1) << bound << " at " << value;
        }
        for (const ColorTick& tick : color_ticks(range, 8)) EXPECT_TRUE(tick.place >= 0 && tick.place <= 1) << bound;
      }
}

TEST(ColorRange, RefusesBoundsThatDoNotGoTogether) {
  PictureOptions options;
  options.vmin = options.vmax = 1;
  EXPECT_EQ(failure_of([&] { check_color_options(options); }).kind, ErrorKind::usage);
  options = {};
  options.vmax = 0;
  options.center = 0;
  EXPECT_EQ(failure_of([&] { check_color_options(options); }).message, "--center 0 is not between --vmin and --vmax");
  options = {};
  options.color_scale = ColorScale::log;
  options.vmin = 0;
  EXPECT_EQ(failure_of([&] { check_color_options(options); }).kind, ErrorKind::usage);
  options.vmin.reset();
  EXPECT_EQ(failure_of([&] { range_of({-1, 1}, options); }).kind, ErrorKind::mismatch);
  options = {};
  options.vmax = std::numeric_limits<double>::infinity();
  EXPECT_EQ(failure_of([&] { check_color_options(options); }).kind, ErrorKind::usage);
}

std::vector<std::string> tick_texts(const ColorRange& range, int most) {
  std::vector<std::string> texts;
  for (const ColorTick& tick : color_ticks(range, most)) texts.push_back(tick.text);
  return texts;
}
using Texts = std::vector<std::string>;

TEST(ColorTicks, AreRoundNumbers) {
  EXPECT_EQ(tick_texts(range_of({1}), 6), (Texts{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(tick_texts(range_of({0.0123}), 5), (Texts{"0", "0.005", "0.010"}));
  EXPECT_EQ(tick_texts(range_of({-7, 3}), 5), (Texts{"−5", "0", "5"}));
  EXPECT_EQ(tick_texts(range_of({1}), 2), (Texts{"0", "1"}));
  EXPECT_EQ(tick_texts(range_of({3e-7}), 4), (Texts{"0", "1e−7", "2e−7", "3e−7"}));
  EXPECT_EQ(tick_texts(range_of({2.5e8}), 6), (Texts{"0", "5e7", "1.0e8", "1.5e8", "2.0e8", "2.5e8"}));
}

TEST(ColorTicks, TheEndsHaveNumbersWhereThereIsRoom) {
  EXPECT_EQ(tick_texts(range_of({0.377541}), 5), (Texts{"0", "0.1", "0.2", "0.3", "0.378"}));
  EXPECT_EQ(tick_texts(range_of({0.302}), 5), (Texts{"0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(tick_texts(range_of({-0.93, 0.2}), 5), (Texts{"−0.930", "−0.5", "0", "0.5", "0.930"}));
  EXPECT_EQ(color_ticks(range_of({0.377541}), 5).back().place, 1);
}

TEST(ColorTicks, StandWhereTheirValuesAre) {
  const ColorRange range = range_of({0.8});
  for (const ColorTick& tick : color_ticks(range, 8)) {
    double value = 0;
    ASSERT_EQ(sscanf(tick.text.c_str(), "%lf", &value), 1);
    EXPECT_NEAR(tick.place, value / 0.8, 1e-12) << tick.text;
  }
}

TEST(ColorTicks, LogTicksArePowersOfTen) {
  PictureOptions options;
  options.color_scale = ColorScale::log;
  options.vmin = 1e-6;
  options.vmax = 1;
  EXPECT_EQ(tick_texts(range_of({1}, options), 8), (Texts{"1e−6", "1e−5", "1e−4", "0.001", "0.01", "0.1", "1"}));
}

TEST(ColorTicks, ExtremeRangesHaveTicksToo) {
  for (const double high : {5e-324, 1e-310, 1e-300, 1e300, 1.7e308}) {
    const std::vector<ColorTick> ticks = color_ticks(range_of({high}), 8);
    EXPECT_GE(ticks.size(), 2u) << high;
    for (const ColorTick& tick : ticks) EXPECT_TRUE(tick.place >= 0 && tick.place <= 1) << high;
  }
}

TEST(CellNumber, OneNotationForAllCells) {
  EXPECT_EQ(cell_number(0.377541, 2, 1), "0.38");
  EXPECT_EQ(cell_number(1, 2, 1), "1.00");
  EXPECT_EQ(cell_number(-0.001, 2, 1), "0.00");
  EXPECT_EQ(cell_number(-2.5, 1, 3), "−2.5");
  EXPECT_EQ(cell_number(12, 0, 40), "12");
  EXPECT_EQ(cell_number(3.24e-7, 2, 5e-7), "3.2e−7");
  EXPECT_EQ(cell_number(0, 2, 5e-7), "0");
  EXPECT_EQ(cell_number(1.5e9, 2, 1.5e9), "1.5e9");
  EXPECT_EQ(cell_number(0, 2, 0), "0.00");
}

}  // namespace
}  // namespace attn
