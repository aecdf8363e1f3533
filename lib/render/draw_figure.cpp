#include <cairo.h>

#include <algorithm>
#include <cmath>

#include "attn/base/error.hpp"
#include "render/drawing.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr double kFrame = 0.5, kTickMark = 2.5;  // points

/// Lines of whole pixels stand beside the cells, never on them.
double line_width(const Layout& layout) { return std::max(1.0, std::round(kFrame * layout.pixels)); }

void draw_frame(const Canvas& canvas, const Layout& layout, const Rectangle& around) {
  const double line = line_width(layout);
  cairo_set_line_width(canvas.cairo, line);
  cairo_rectangle(canvas.cairo, around.x - line / 2, around.y - line / 2, around.width + line, around.height + line);
  cairo_stroke(canvas.cairo);
}

/// `mark` is a point and the way the line goes from there.
void draw_tick(const Canvas& canvas, const Layout& layout, const Rectangle& mark) {
  cairo_set_line_width(canvas.cairo, line_width(layout));
  cairo_move_to(canvas.cairo, mark.x, mark.y);
  cairo_line_to(canvas.cairo, mark.x + mark.width, mark.y + mark.height);
  cairo_stroke(canvas.cairo);
}

void draw_query_labels(const Canvas& canvas, const Layout& layout, const PanelPlace& place) {
  const double u = layout.pixels, edge = static_cast<double>(place.x) - line_width(layout);
  for (const AxisLabel& label : layout.labels.query) {
    const double y = static_cast<double>(place.y) + (static_cast<double>(label.index) + 0.5) * layout.cells.query_pitch();
    if (layout.labels.query_ticks) draw_tick(canvas, layout, {edge, y, -kTickMark * u, 0});
    draw_text(canvas.cairo, label.text, static_cast<double>(place.x) - (layout.labels.query_ticks ? 4 : 3.5) * u, y,
              Anchor::right);
  }
}

void draw_key_labels(const Canvas& canvas, const Layout& layout, const PanelPlace& place) {
  const double u = layout.pixels, edge = static_cast<double>(place.y + layout.cells.panel_height()) + line_width(layout);
  const double angle = layout.labels.key_angle;
  for (const AxisLabel& label : layout.labels.key) {
    const double x = static_cast<double>(place.x) + (static_cast<double>(label.index) + 0.5) * layout.cells.key_pitch();
    if (layout.labels.key_ticks) draw_tick(canvas, layout, {x, edge, 0, kTickMark * u});
    // The upper right corner of a slanting label points at its cell; upright text hangs below by half its height.
    const double drop = angle == 0    ? 3.5 * u + kLineHeight / 2 * layout.labels.size
                        : angle == 45 ? 3.5 * u + 0.25 * layout.labels.size
                                      : 4 * u;
    draw_text(canvas.cairo, label.text, x, edge + drop, angle == 0 ? Anchor::center : Anchor::right, angle);
  }
}

void fill_bar(const Canvas& canvas, const Figure& figure) {
  const ColorBar& bar = figure.layout.bar;
  const double length = bar.vertical ? bar.height : bar.width;
  const int steps = canvas.pixels != nullptr ? static_cast<int>(length) : 256;
  for (int i = 0; i < steps; ++i) {
    const double begin = length * i / steps, end = std::min(length, length * (i + (canvas.pixels != nullptr ? 1 : 2)) / steps);
    const double share = (i + 0.5) / steps;
    set_color(canvas.cairo, figure.range.map().at(bar.vertical ? 1 - share : share));
    if (bar.vertical)
      cairo_rectangle(canvas.cairo, bar.x, bar.y + begin, bar.width, end - begin);
    else
      cairo_rectangle(canvas.cairo, bar.x + begin, bar.y, end - begin, bar.height);
    cairo_fill(canvas.cairo);
  }
}

/// The outline of the bar; an end beyond which values were clamped is an arrow of the end's colour.
void outline_bar(const Canvas& canvas, const Figure& figure, bool fill_ends) {
  const ColorBar& bar = figure.layout.bar;
  const ColorRange& range = figure.range;
  cairo_t* cairo = canvas.cairo;
  cairo_save(cairo);
  // Drawn as if flat, low end left: x runs along the bar, y across it.
  const double length = bar.vertical ? bar.height : bar.width, across = bar.vertical ? bar.width : bar.height;
  cairo_translate(cairo, bar.x, bar.vertical ? bar.y + bar.height : bar.y);
  if (bar.vertical) cairo_rotate(cairo, -std::acos(-1.0) / 2);
  const double gap = bar.arrow - line_width(figure.layout);
  const auto arrow = [&](double base, double tip, Rgb color) {
    cairo_move_to(cairo, base, 0);
    cairo_line_to(cairo, tip, across / 2);
    cairo_line_to(cairo, base, across);
    cairo_close_path(cairo);
    set_color(cairo, color);
    cairo_fill(cairo);
  };
  if (fill_ends && range.below()) arrow(0, -gap, range.map().colors.front());
  if (fill_ends && range.above()) arrow(length, length + gap, range.map().colors.back());
  const double half = line_width(figure.layout) / 2;
  if (!fill_ends) {
    cairo_move_to(cairo, -half, -half);
    cairo_line_to(cairo, length + half, -half);
    if (range.above()) cairo_line_to(cairo, length + gap, across / 2);
    cairo_line_to(cairo, length + half, across + half);
    cairo_line_to(cairo, -half, across + half);
    if (range.below()) cairo_line_to(cairo, -gap, across / 2);
    cairo_close_path(cairo);
    cairo_set_line_width(cairo, 2 * half);
    cairo_stroke(cairo);
  }
  cairo_restore(cairo);
}

void draw_bar(const Canvas& canvas, const Figure& figure) {
  const ColorBar& bar = figure.layout.bar;
  const ThemeColors& theme = theme_colors(figure.spec.options.theme);
  cairo_save(canvas.cairo);
  cairo_set_antialias(canvas.cairo, canvas.pixels != nullptr ? CAIRO_ANTIALIAS_NONE : CAIRO_ANTIALIAS_DEFAULT);
  fill_bar(canvas, figure);
  cairo_restore(canvas.cairo);
  outline_bar(canvas, figure, true);
  set_color(canvas.cairo, theme.ink);
  outline_bar(canvas, figure, false);
  const double mark = kTickMark * figure.layout.pixels, line = line_width(figure.layout);
  for (const double place : bar.ticks) {
    if (bar.vertical)
      draw_tick(canvas, figure.layout, {bar.x + bar.width + line, bar.y + (1 - place) * bar.height, mark, 0});
    else
      draw_tick(canvas, figure.layout, {bar.x + place * bar.width, bar.y + bar.height + line, 0, mark});
  }
}

void draw_footer(const Canvas& canvas, const Figure& figure) {
  const ThemeColors& theme = theme_colors(figure.spec.options.theme);
  for (const FooterItem& item : figure.layout.footer) {
    if (item.kind != CellKind::value) {
      draw_hatch(canvas, theme.hatch(item.kind), figure.layout.pixels, item.swatch);
      set_color(canvas.cairo, theme.faint);
      draw_frame(canvas, figure.layout, item.swatch);
    }
    set_color(canvas.cairo, theme.faint);
    draw_text(canvas.cairo, item.text.text, item.text.x, item.text.y, item.text.anchor);
  }
}

}  // namespace

void set_color(cairo_t* cairo, Rgb color) {
  cairo_set_source_rgb(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

void check_drawn(int status) {
  if (status == CAIRO_STATUS_NO_MEMORY) fail(ErrorKind::memory, "not enough memory to draw the picture");
  if (status != CAIRO_STATUS_SUCCESS)
    fail(ErrorKind::internal, "drawing failed: ", cairo_status_to_string(static_cast<cairo_status_t>(status)));
}

void draw_figure(const Canvas& canvas, const Figure& figure, Fonts& fonts) {
  const Layout& layout = figure.layout;
  const ThemeColors& theme = theme_colors(figure.spec.options.theme);
  set_color(canvas.cairo, theme.paper);
  cairo_paint(canvas.cairo);
  const double size = number_size(figure, fonts);
  for (Index panel = 0; panel < figure.spec.panels; ++panel) {
    const PanelPlace& place = layout.panels[static_cast<std::size_t>(panel)];
    draw_cells(canvas, figure, panel);
    if (size > 0) draw_numbers(canvas, figure, panel, size, fonts);
    set_color(canvas.cairo, theme.ink);
    draw_frame(canvas, layout, panel_rectangle(layout, panel));
    if (place.query_labels) draw_query_labels(canvas, layout, place);
    if (place.key_labels) draw_key_labels(canvas, layout, place);
  }
  draw_bar(canvas, figure);
  set_color(canvas.cairo, theme.ink);
  for (const PlacedText& text : layout.texts) draw_text(canvas.cairo, text.text, text.x, text.y, text.anchor, text.angle);
  draw_footer(canvas, figure);
}

}  // namespace v1
}  // namespace attn
