#pragma once

#include <string>
#include <vector>

#include "render/axis_labels.hpp"
#include "render/cell_plan.hpp"
#include "render/color_range.hpp"
#include "render/figure_spec.hpp"
#include "render/fonts.hpp"

namespace attn {
inline namespace v1 {

/// A place on the picture, in pixels.
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

/// What a cell is when it is not a value; each has a look that no value has.
enum class CellKind { value, blocked, empty, nan };

/// A text at its place: its anchor stands at (x, y).
struct PlacedText {
  Text text;
  double x = 0, y = 0;
  Anchor anchor = Anchor::center;
  double angle = 0;
};

/// What the values decide about a figure: known when the last row has come. Until then a guess stands in for it.
struct ValueMarks {
  std::vector<ColorTick> ticks;
  bool below = false, above = false;  ///< the colour bar ends in an arrow
  std::string name;                   ///< beside the colour bar
  std::vector<CellKind> kinds;        ///< to be explained in the footer
  std::string pooling;                ///< "1 px = max of 16×16"
};

struct ColorBar {
  bool vertical = true;
  double x = 0, y = 0, width = 0, height = 0;  ///< whole pixels, arrows not included
  double arrow = 0;                            ///< length of the arrows at the ends that have one
  std::vector<double> ticks;                   ///< places, 0 to 1
};

/// An explained cell kind, or words only (CellKind::value).
struct FooterItem {
  CellKind kind = CellKind::value;
  PlacedText text;
  Rectangle swatch;  ///< without width for words only
};

struct PanelPlace {
  Index x = 0, y = 0;  ///< pixels, of the first cell
  bool query_labels = false, key_labels = false;
};

/// Where everything of a figure stands, in pixels. All text is shaped and measured.
struct Layout {
  Index width = 0, height = 0;
  double pixels = 1;  ///< to the point
  CellPlan cells;
  AxisLabelPlan labels;
  std::vector<PanelPlace> panels;
  ColorBar bar;
  std::vector<PlacedText> texts;  ///< titles, axis titles, numbers of the colour bar
  std::vector<FooterItem> footer;
};

/// Plans cells and labels, then lays out with a guess for `ValueMarks`. Throws `usage` for a picture that would be too
/// large, or for a width that leaves no room for the cells.
Layout plan_layout(const FigureSpec& spec, double pixels, Fonts& fonts);
/// The same plan with what the values decided.
Layout final_layout(const FigureSpec& spec, const Layout& plan, const ValueMarks& marks, Fonts& fonts);

/// "1 px = max of 16×16", or "" when every cell has pixels of its own.
std::string pooling_text(const CellPlan& cells, const PictureOptions& options, bool by_magnitude);

}  // namespace v1
}  // namespace attn
