#pragma once

#include "render/downsample.hpp"
#include "render/figure_spec.hpp"

namespace attn {
inline namespace v1 {

/// Lengths in points; a picture of `dpi` has dpi / 72 pixels to the point.
namespace points {
inline constexpr double kArea = 450;        ///< the longer side of all cells together, unless options say otherwise
inline constexpr double kLargestCell = 42;  ///< few tokens do not fill the area
inline constexpr double kLegible = 6.6;     ///< a row in which a label can be read
inline constexpr double kThickness = 36;    ///< the least shorter side of a long, thin panel
inline constexpr double kPanelGapX = 10;
inline constexpr double kPanelGapY = 8;  ///< and the panel's title
inline constexpr double kPanelTitle = 8.5;
}  // namespace points

/// No side of a picture is longer.
inline constexpr Index kLongestSide = 16384;

/// Pixels of the cells and how many cells are gathered in one, decided before any value is known.
struct CellPlan {
  Index cell_width = 1, cell_height = 1;    ///< pixels of a (pooled) cell
  Index block_queries = 1, block_keys = 1;  ///< cells gathered in one
  Index panel_columns = 1, panel_rows = 1;  ///< the grid of panels
  Index gap_x = 0, gap_y = 0;               ///< pixels between panels
  Index rows = 1, columns = 1;              ///< (pooled) cells of a panel

  Index panel_width() const { return columns * cell_width; }
  Index panel_height() const { return rows * cell_height; }
  Index width() const { return panel_columns * panel_width() + (panel_columns - 1) * gap_x; }
  Index height() const { return panel_rows * panel_height() + (panel_rows - 1) * gap_y; }
  /// Pixels from one query or key to the next.
  double query_pitch() const { return static_cast<double>(cell_height) / static_cast<double>(block_queries); }
  double key_pitch() const { return static_cast<double>(cell_width) / static_cast<double>(block_keys); }
};

/// The plan for cells that fill `width` pixels if `fill`, else that fit into the default area. `pixels` to the point;
/// `least_panel` pixels is the narrowest panel whose title can be read.
struct Room {
  double pixels = 1;
  double width = 0;
  bool fill = false;
  double least_panel = 0;
};
CellPlan plan_cells(const FigureSpec& spec, const Room& room);

}  // namespace v1
}  // namespace attn
