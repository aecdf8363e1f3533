#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "render/drawing.hpp"

namespace attn {
inline namespace v1 {
namespace {

// More rectangles than these make vector files that viewers choke on: the cells become one image.
constexpr Index kMostRectangles = 10'000;

constexpr double kHatchStep = 3.4, kHatchLine = 0.75;  // points

std::uint32_t packed(Rgb color) {
  return static_cast<std::uint32_t>(color.red) << 16 | static_cast<std::uint32_t>(color.green) << 8 | color.blue;
}

/// Hatching in whole pixels of the picture, so that it runs on from cell to cell.
class PixelHatch {
 public:
  PixelHatch(const Hatch& hatch, double pixels)
      : hatch_(hatch),
        step_(std::max<Index>(3, std::lround(kHatchStep * pixels))),
        line_(std::max<Index>(1, std::lround(kHatchLine * pixels))) {}

  std::uint32_t at(Index x, Index y) const {
    // Slanted lines are as thick as level ones when they are wider by the root of 2 along the row.
    const Index slant_step = step_ * 7 / 5, slant_line = std::max<Index>(1, line_ * 7 / 5);
    const bool on_line = (hatch_.rising && (x + y) % slant_step < slant_line) ||
                         (hatch_.falling && (x - y + (Index{1} << 20) * slant_step) % slant_step < slant_line) ||
                         (hatch_.level && y % step_ < line_);
    return packed(on_line ? hatch_.line : hatch_.ground);
  }

 private:
  const Hatch& hatch_;
  Index step_, line_;
};

/// The kinds and colours of one row of cells.
struct CellRow {
  std::vector<CellKind> kinds;
  std::vector<std::uint32_t> colors;

  void read(const Figure& figure, Index panel, Index row) {
    const Index columns = figure.cells.plan().columns();
    const ThemeColors& theme = theme_colors(figure.spec.options.theme);
    const double* high = figure.cells.high(panel, row);
    const double* low = figure.cells.low(panel, row);
    kinds.resize(static_cast<std::size_t>(columns));
    colors.resize(static_cast<std::size_t>(columns));
    for (Index j = 0; j < columns; ++j) {
      const std::size_t at = static_cast<std::size_t>(j);
      kinds[at] = cell_kind(figure.cells, panel, row, j);
      colors[at] = packed(kinds[at] == CellKind::value ? figure.range.color(figure.range.shown(high[j], low[j]))
                                                       : theme.hatch(kinds[at]).ground);
    }
  }
};

void fill_pixels(const Canvas& canvas, const Figure& figure, Index panel) {
  const CellPlan& cells = figure.layout.cells;
  const PanelPlace& place = figure.layout.panels[static_cast<std::size_t>(panel)];
  const ThemeColors& theme = theme_colors(figure.spec.options.theme);
  const std::array<PixelHatch, 4> hatches = {
      PixelHatch(theme.blocked, figure.layout.pixels), PixelHatch(theme.blocked, figure.layout.pixels),
      PixelHatch(theme.empty, figure.layout.pixels), PixelHatch(theme.nan, figure.layout.pixels)};
  CellRow cell_row;
  for (Index row = 0; row < cells.rows; ++row) {
    cell_row.read(figure, panel, row);
    for (Index line = 0; line < cells.cell_height; ++line) {
      const Index y = place.y + row * cells.cell_height + line;
      auto* out = reinterpret_cast<std::uint32_t*>(canvas.pixels + y * canvas.stride) + place.x;
      for (std::size_t j = 0; j < cell_row.kinds.size(); ++j) {
        const Index x = place.x + static_cast<Index>(j) * cells.cell_width;
        if (cell_row.kinds[j] == CellKind::value)
          out = std::fill_n(out, cells.cell_width, cell_row.colors[j]);
        else
          for (Index i = 0; i < cells.cell_width; ++i) *out++ = hatches[static_cast<std::size_t>(cell_row.kinds[j])].at(x + i, y);
      }
    }
  }
}

void set_packed(cairo_t* cairo, std::uint32_t color) {
  set_color(cairo,
            {static_cast<std::uint8_t>(color >> 16), static_cast<std::uint8_t>(color >> 8), static_cast<std::uint8_t>(color)});
}

/// Runs of equal neighbours as one rectangle, whose edges viewers need not smooth. Those that do (PDF does not say it)
/// mix the colours of neighbours: each reaches under the right and the lower one, which are drawn after it, or else the
/// paper would shine through where two of them meet.
void fill_rectangles(const Canvas& canvas, const Figure& figure, Index panel) {
  const CellPlan& cells = figure.layout.cells;
  const PanelPlace& place = figure.layout.panels[static_cast<std::size_t>(panel)];
  CellRow cell_row;
  cairo_save(canvas.cairo);
  cairo_set_antialias(canvas.cairo, CAIRO_ANTIALIAS_NONE);
  for (Index row = 0; row < cells.rows; ++row) {
    cell_row.read(figure, panel, row);
    for (Index begin = 0, end = 0; begin < cells.columns; begin = end) {
      const std::uint32_t color = cell_row.colors[static_cast<std::size_t>(begin)];
      while (end < cells.columns && cell_row.colors[static_cast<std::size_t>(end)] == color) ++end;
      set_packed(canvas.cairo, color);
      cairo_rectangle(canvas.cairo, static_cast<double>(place.x + begin * cells.cell_width),
                      static_cast<double>(place.y + row * cells.cell_height),
                      static_cast<double>((end - begin + (end < cells.columns ? 1 : 0)) * cells.cell_width),
                      static_cast<double>((row + 1 < cells.rows ? 2 : 1) * cells.cell_height));
      cairo_fill(canvas.cairo);
    }
  }
  cairo_restore(canvas.cairo);
}

struct DestroySurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

void fill_image(const Canvas& canvas, const Figure& figure, Index panel) {
  const CellPlan& cells = figure.layout.cells;
  const PanelPlace& place = figure.layout.panels[static_cast<std::size_t>(panel)];
  const std::unique_ptr<cairo_surface_t, DestroySurface> image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(cells.columns), static_cast<int>(cells.rows)));
  check_drawn(cairo_surface_status(image.get()));
  CellRow cell_row;
  for (Index row = 0; row < cells.rows; ++row) {
    cell_row.read(figure, panel, row);
    std::memcpy(cairo_image_surface_get_data(image.get()) + row * cairo_image_surface_get_stride(image.get()),
                cell_row.colors.data(), cell_row.colors.size() * sizeof(std::uint32_t));
  }
  cairo_surface_mark_dirty(image.get());
  cairo_save(canvas.cairo);
  cairo_translate(canvas.cairo, static_cast<double>(place.x), static_cast<double>(place.y));
  cairo_scale(canvas.cairo, static_cast<double>(cells.cell_width), static_cast<double>(cells.cell_height));
  cairo_set_source_surface(canvas.cairo, image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(canvas.cairo), CAIRO_FILTER_NEAREST);
  cairo_rectangle(canvas.cairo, 0, 0, static_cast<double>(cells.columns), static_cast<double>(cells.rows));
  cairo_fill(canvas.cairo);
  cairo_restore(canvas.cairo);
}

void add_hatch_lines(cairo_t* cairo, const Hatch& hatch, double step, const Rectangle& where) {
  const auto [x, y, width, height] = where;
  const double slant = step * 1.4;
  if (hatch.level)
    for (double at = std::ceil(y / step) * step; at < y + height; at += step)
      cairo_move_to(cairo, x, at), cairo_line_to(cairo, x + width, at);
  if (hatch.rising)
    for (double at = std::ceil((x + y) / slant) * slant; at < x + y + width + height; at += slant)
      cairo_move_to(cairo, at - y, y), cairo_line_to(cairo, at - y - height, y + height);
  if (hatch.falling)
    for (double at = std::ceil((x - y - height) / slant) * slant; at < x - y + width; at += slant)
      cairo_move_to(cairo, at + y, y), cairo_line_to(cairo, at + y + height, y + height);
}

/// Lines over all cells of one kind in a panel of a vector format, whose cells have their ground colour already.
void hatch_kind(const Canvas& canvas, const Figure& figure, Index panel, CellKind kind) {
  const CellPlan& cells = figure.layout.cells;
  const PanelPlace& place = figure.layout.panels[static_cast<std::size_t>(panel)];
  bool any = false;
  cairo_save(canvas.cairo);
  cairo_new_path(canvas.cairo);
  for (Index row = 0; row < cells.rows; ++row) {
    for (Index begin = 0; begin < cells.columns; ++begin) {
      Index end = begin;
      while (end < cells.columns && cell_kind(figure.cells, panel, row, end) == kind) ++end;
      if (end == begin) continue;
      cairo_rectangle(canvas.cairo, static_cast<double>(place.x + begin * cells.cell_width),
                      static_cast<double>(place.y + row * cells.cell_height),
                      static_cast<double>((end - begin) * cells.cell_width), static_cast<double>(cells.cell_height));
      begin = end;
      any = true;
    }
  }
  if (any) {
    const Hatch& hatch = theme_colors(figure.spec.options.theme).hatch(kind);
    cairo_clip(canvas.cairo);
    add_hatch_lines(canvas.cairo, hatch, kHatchStep * figure.layout.pixels, panel_rectangle(figure.layout, panel));
    cairo_set_line_width(canvas.cairo, kHatchLine * figure.layout.pixels);
    set_color(canvas.cairo, hatch.line);
    cairo_stroke(canvas.cairo);
  }
  cairo_restore(canvas.cairo);
}

}  // namespace

CellKind cell_kind(const PooledCells& cells, Index panel, Index row, Index column) {
  if (cells.is_empty_row(panel, row)) return CellKind::empty;
  const double high = cells.high(panel, row)[column];
  if (std::isnan(high)) return CellKind::nan;
  return std::isinf(high) && high < 0 ? CellKind::blocked : CellKind::value;
}

std::vector<CellKind> kinds_shown(const PooledCells& cells) {
  std::array<bool, 4> seen{};
  for (Index panel = 0; panel < cells.plan().panels; ++panel)
    for (Index row = 0; row < cells.plan().rows(); ++row)
      for (Index column = 0; column < cells.plan().columns(); ++column)
        seen[static_cast<std::size_t>(cell_kind(cells, panel, row, column))] = true;
  std::vector<CellKind> kinds;
  for (const CellKind kind : {CellKind::blocked, CellKind::empty, CellKind::nan})
    if (seen[static_cast<std::size_t>(kind)]) kinds.push_back(kind);
  return kinds;
}

Rectangle panel_rectangle(const Layout& layout, Index panel) {
  const PanelPlace& place = layout.panels[static_cast<std::size_t>(panel)];
  return {static_cast<double>(place.x), static_cast<double>(place.y), static_cast<double>(layout.cells.panel_width()),
          static_cast<double>(layout.cells.panel_height())};
}

void draw_hatch(const Canvas& canvas, const Hatch& hatch, double pixels, const Rectangle& where) {
  cairo_save(canvas.cairo);
  cairo_set_antialias(canvas.cairo, CAIRO_ANTIALIAS_DEFAULT);
  cairo_rectangle(canvas.cairo, where.x, where.y, where.width, where.height);
  set_color(canvas.cairo, hatch.ground);
  cairo_fill_preserve(canvas.cairo);
  cairo_clip(canvas.cairo);
  add_hatch_lines(canvas.cairo, hatch, kHatchStep * pixels, where);
  cairo_set_line_width(canvas.cairo, kHatchLine * pixels);
  set_color(canvas.cairo, hatch.line);
  cairo_stroke(canvas.cairo);
  cairo_restore(canvas.cairo);
}

void draw_cells(const Canvas& canvas, const Figure& figure, Index panel) {
  if (canvas.pixels != nullptr) {
    cairo_surface_flush(cairo_get_target(canvas.cairo));
    fill_pixels(canvas, figure, panel);
    cairo_surface_mark_dirty(cairo_get_target(canvas.cairo));
    return;
  }
  const bool many = figure.spec.panels * figure.layout.cells.rows * figure.layout.cells.columns > kMostRectangles;
  many ? fill_image(canvas, figure, panel) : fill_rectangles(canvas, figure, panel);
  for (const CellKind kind : {CellKind::blocked, CellKind::empty, CellKind::nan}) hatch_kind(canvas, figure, panel, kind);
}

}  // namespace v1
}  // namespace attn
