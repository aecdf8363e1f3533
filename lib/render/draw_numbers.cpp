#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "render/drawing.hpp"

namespace attn {
inline namespace v1 {
namespace {

// Pixels; points. A smaller print than 4.1 points is a texture to most readers: numbers that small are drawn only in cells
// whose pixels were asked for.
constexpr double kLeastPixels = 7, kLeast = 4.1, kLargest = 8.5;
constexpr double kShare = 0.9;                         // of the cell
constexpr double kNarrowestDigit = 0.6, kPoint = 0.3;  // as shares of the font size

/// What a number may take of a side: letters stand on whole pixels, and one stays clear at both ends of small cells too.
double room_in(Index side) { return std::min(kShare * static_cast<double>(side), static_cast<double>(side) - 3); }

double largest_magnitude(const ColorRange& range, const PooledCells& cells) {
  double largest = 0;
  for (Index row = 0; row < cells.plan().panels * cells.plan().rows(); ++row)
    for (Index j = 0; j < cells.plan().columns(); ++j) {
      const double value = std::abs(range.shown(cells.high(0, row)[j], cells.low(0, row)[j]));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  return largest;
}

std::string number_text(double value, int digits, double largest) {
  if (std::isinf(value)) return "∞";
  return cell_number(value, digits, largest);
}

}  // namespace

double number_size(const Figure& figure, Fonts& fonts) {
  const PictureOptions& options = figure.spec.options;
  if (options.annotate == Annotate::never || figure.cells.plan().pooled()) return 0;
  const double width = room_in(figure.layout.cells.cell_width);
  const double height = room_in(figure.layout.cells.cell_height);
  // Before all numbers are measured: one digit, and a point with its decimals, is the least that must fit.
  const double shortest = (kNarrowestDigit * (1 + options.digits) + (options.digits > 0 ? kPoint : 0)) * kLeastPixels;
  if (options.annotate == Annotate::automatic && (width < shortest || height < kCapHeight * kLeastPixels)) return 0;
  const double largest = largest_magnitude(figure.range, figure.cells);
  constexpr double kTrial = 100;
  double widest = 1;
  std::map<std::string, double> known;
  const PoolPlan& plan = figure.cells.plan();
  for (Index row = 0; row < plan.panels * plan.rows(); ++row)
    for (Index j = 0; j < plan.columns(); ++j) {
      if (cell_kind(figure.cells, 0, row, j) != CellKind::value) continue;
      const std::string text = number_text(figure.cells.high(0, row)[j], options.digits, largest);
      auto found = known.find(text);
      if (found == known.end()) found = known.emplace(text, clear_width(fonts.shape(text, kTrial))).first;
      widest = std::max(widest, found->second);
    }
  const double size = std::min({kLargest * figure.layout.pixels, kTrial * width / widest, height / kCapHeight});
  if (options.annotate == Annotate::always) return std::max(size, kLeastPixels);
  const double least = options.cell_pixels ? kLeastPixels : std::max(kLeastPixels, kLeast * figure.layout.pixels);
  return size >= least ? size : 0;
}

void draw_numbers(const Canvas& canvas, const Figure& figure, Index panel, double size, Fonts& fonts) {
  const CellPlan& cells = figure.layout.cells;
  const PanelPlace& place = figure.layout.panels[static_cast<std::size_t>(panel)];
  const double largest = largest_magnitude(figure.range, figure.cells);
  std::map<std::string, Text> known;
  for (Index row = 0; row < cells.rows; ++row)
    for (Index column = 0; column < cells.columns; ++column) {
      if (cell_kind(figure.cells, panel, row, column) != CellKind::value) continue;
      const double value = figure.cells.high(panel, row)[column];
      const std::string words = number_text(value, figure.spec.options.digits, largest);
      auto found = known.find(words);
      if (found == known.end()) found = known.emplace(words, fonts.shape(words, size)).first;
      set_color(canvas.cairo, contrasting(figure.range.color(value)));
      draw_text(canvas.cairo, found->second,
                static_cast<double>(place.x) + (static_cast<double>(column) + 0.5) * static_cast<double>(cells.cell_width) +
                    clear_middle(found->second),
                static_cast<double>(place.y) + (static_cast<double>(row) + 0.5) * static_cast<double>(cells.cell_height),
                Anchor::center);
    }
}

}  // namespace v1
}  // namespace attn
