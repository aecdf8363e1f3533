#pragma once

#include <cstdint>

#include "render/color_range.hpp"
#include "render/downsample.hpp"
#include "render/layout.hpp"
#include "render/theme.hpp"

typedef struct _cairo cairo_t;

namespace attn {
inline namespace v1 {

/// Where a figure is drawn: cairo for all formats; cells go straight into the pixels where there are any.
struct Canvas {
  cairo_t* cairo = nullptr;
  std::uint8_t* pixels = nullptr;  ///< of an RGB24 image surface; null for vector formats
  int stride = 0;                  ///< bytes from one row of pixels to the next
};

/// All that a figure is made of.
struct Figure {
  const FigureSpec& spec;
  const Layout& layout;
  const PooledCells& cells;
  const ColorRange& range;
};

CellKind cell_kind(const PooledCells& cells, Index panel, Index row, Index column);
/// The kinds other than value that occur.
std::vector<CellKind> kinds_shown(const PooledCells& cells);

void draw_figure(const Canvas& canvas, const Figure& figure, Fonts& fonts);
/// Throws ErrorKind::memory when the state of a cairo object, a cairo_status_t, says that memory ran out, and
/// ErrorKind::internal for any other failure of drawing.
void check_drawn(int status);

/// Where the cells of a panel stand.
Rectangle panel_rectangle(const Layout& layout, Index panel);

/// The cells of one panel; `draw_figure` calls them in this order.
void draw_cells(const Canvas& canvas, const Figure& figure, Index panel);
/// A rectangle of the look of a cell kind, in whole pixels.
void draw_hatch(const Canvas& canvas, const Hatch& hatch, double pixels, const Rectangle& where);

/// Numbers in all cells, or in none: the font size in which the widest fits, 0 if they are not drawn.
double number_size(const Figure& figure, Fonts& fonts);
void draw_numbers(const Canvas& canvas, const Figure& figure, Index panel, double size, Fonts& fonts);

void set_color(cairo_t* cairo, Rgb color);

}  // namespace v1
}  // namespace attn
