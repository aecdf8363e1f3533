#include <algorithm>
#include <cmath>
#include <map>

#include "attn/base/error.hpp"
#include "render/label_text.hpp"
#include "render/terminal.hpp"
#include "render/terminal_text.hpp"
#include "render/theme.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr int kLongestKeyLabel = 12;

/// Colours of cells without a value: the grounds of the theme's hatches. On plain terminals they are characters.
Rgb ground_of(const TerminalFigure& figure, Index panel, Index row, Index column) {
  const CellKind kind = cell_kind(figure.cells, panel, row, column);
  if (kind != CellKind::value) return theme_colors(Theme::dark).hatch(kind).ground;
  return figure.range.color(figure.range.shown(figure.cells.high(panel, row)[column], figure.cells.low(panel, row)[column]));
}

std::string_view mark_of(CellKind kind) { return kind == CellKind::blocked ? "·" : kind == CellKind::empty ? "-" : "?"; }

double place_of(const TerminalFigure& figure, Index panel, Index row, Index column) {
  return figure.range.place(figure.range.shown(figure.cells.high(panel, row)[column], figure.cells.low(panel, row)[column]));
}

std::string query_label(const TerminalFigure& figure, Index query) {
  const int width = figure.plan.label_width;
  if (width == 0) return {};
  const std::vector<std::string>& tokens = figure.spec.query_tokens;
  const std::string label = tokens.empty() ? std::to_string(query) : tokens[static_cast<std::size_t>(query)];
  return pad_left(terminal_label(label, width), width) + " ";
}

std::string key_label(const TerminalFigure& figure, Index key, int width) {
  const std::vector<std::string>& tokens = figure.spec.key_tokens;
  return terminal_label(tokens.empty() ? std::to_string(key) : tokens[static_cast<std::size_t>(key)], width);
}

double largest_magnitude(const TerminalFigure& figure) {
  double largest = 0;
  const PoolPlan& plan = figure.plan.pool;
  for (Index row = 0; row < plan.panels * plan.rows(); ++row)
    for (Index j = 0; j < plan.columns(); ++j) {
      const double value = std::abs(figure.cells.high(0, row)[j]);
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  return largest;
}

/// What the number panels print: the numbers, and one width for all columns.
class NumberCells {
 public:
  explicit NumberCells(const TerminalFigure& figure) : figure_(figure), largest_(largest_magnitude(figure)) {
    const PoolPlan& plan = figure.plan.pool;
    for (Index row = 0; row < plan.panels * plan.rows(); ++row)
      for (Index j = 0; j < plan.columns(); ++j) width_ = std::max(width_, display_width(text(0, row, j)));
    if (figure.spec.options.labels == LabelMode::none) return;
    for (Index key = 0; key < figure.spec.keys; ++key)
      width_ = std::max(width_, display_width(key_label(figure, key, kLongestKeyLabel)));
  }

  /// Blanks on both sides included, never more than the line has room for.
  int width() const { return std::min(width_ + 2, std::max(1, figure_.plan.columns - label_cells())); }
  int label_cells() const { return figure_.plan.label_width > 0 ? figure_.plan.label_width + 1 : 0; }

  std::string text(Index panel, Index row, Index column) const {
    const CellKind kind = cell_kind(figure_.cells, panel, row, column);
    if (kind != CellKind::value) return kind == CellKind::nan ? "NaN" : std::string(mark_of(kind));
    const double value = figure_.cells.high(panel, row)[column];
    return std::isinf(value) ? "∞" : cell_number(value, figure_.spec.options.digits, largest_);
  }

 private:
  const TerminalFigure& figure_;
  double largest_;
  int width_ = 1;
};

/// At the right of a cell, before one blank; cut when it is wider.
std::string in_cell(const std::string& text, int width) {
  return width < 2 ? cut_to_width(text, width) : pad_left(cut_to_width(text, width - 1), width - 1) + " ";
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// A run of characters on one ground, without switching colours for each.
class ColorLine {
 public:
  explicit ColorLine(TerminalColor color) : color_(color) {}
  void add(std::string_view text, const std::string& codes) {
    if (codes != codes_) line_ += (codes_.empty() ? "" : reset_code(color_)) + codes, codes_ = codes;
    line_ += text;
  }
  std::string end() { return trimmed(line_ + (codes_.empty() ? "" : reset_code(color_))); }

 private:
  TerminalColor color_;
  std::string line_, codes_;
};

}  // namespace

bool numbers_fit(const TerminalFigure& figure) {
  if (figure.spec.options.annotate == Annotate::never) return false;
  const NumberCells numbers(figure);
  return numbers.label_cells() + figure.spec.keys * numbers.width() <= figure.plan.columns;
}

std::string numbers_panel(const TerminalFigure& figure, Index panel) {
  const NumberCells numbers(figure);
  const TerminalColor color = figure.spec.options.terminal_color;
  const int width = numbers.width(), label_cells = numbers.label_cells();
  const Index per_part = std::max<Index>(1, (figure.plan.columns - label_cells) / width);
  std::string text;
  for (Index begin = 0; begin < figure.spec.keys; begin += per_part) {
    const Index end = std::min(figure.spec.keys, begin + per_part);
    std::string header(static_cast<std::size_t>(label_cells), ' ');
    for (Index key = begin; key < end; ++key) header += in_cell(key_label(figure, key, width), width);
    if (begin > 0) text += "\n";
    if (figure.spec.options.labels != LabelMode::none) text += trimmed(header);
    for (Index query = 0; query < figure.spec.queries; ++query) {
      ColorLine line(color);
      line.add(query_label(figure, query), "");
      for (Index key = begin; key < end; ++key) {
        const Rgb ground = ground_of(figure, panel, query, key);
        line.add(in_cell(numbers.text(panel, query, key), width),
                 background_code(ground, color) + foreground_code(contrasting(ground), color));
      }
      text += line.end();
    }
  }
  return text;
}

std::string blocks_panel(const TerminalFigure& figure, Index panel) {
  const TerminalColor color = figure.spec.options.terminal_color;
  std::string text;
  for (Index query = 0; query < figure.spec.queries; ++query) {
    ColorLine line(color);
    line.add(query_label(figure, query), "");
    for (Index key = 0; key < figure.spec.keys; ++key) {
      const CellKind kind = cell_kind(figure.cells, panel, query, key);
      const Rgb ground = ground_of(figure, panel, query, key);
      if (kind != CellKind::value) {
        line.add(concat(mark_of(kind), " "), background_code(ground, color) + foreground_code(contrasting(ground), color));
      } else if (color != TerminalColor::plain) {
        line.add("  ", background_code(ground, color));
      } else {
        const double place = place_of(figure, panel, query, key);
        const std::string_view shade = shade_of(place, figure.range.by_magnitude());
        line.add(figure.range.by_magnitude() && shade != " " ? concat(place < 0.5 ? "-" : "+", shade) : concat(shade, shade), "");
      }
    }
    text += line.end();
  }
  return text + key_labels_downwards(figure, 2);
}

std::string key_labels_downwards(const TerminalFigure& figure, int width) {
  if (figure.spec.options.labels == LabelMode::none) return {};
  constexpr int kTallest = 8;
  std::vector<std::vector<std::string>> letters;
  std::size_t tallest = 0;
  for (Index key = 0; key < figure.spec.keys; ++key) {
    letters.emplace_back();
    const std::string label = key_label(figure, key, kTallest);
    std::string letter;
    for (std::size_t at = 0; at < label.size();) {
      const std::size_t begin = at;
      next_code_point(label, at);
      const std::string_view piece = std::string_view(label).substr(begin, at - begin);
      // Marks stay with their letter.
      if (display_width(letter + std::string(piece)) > display_width(letter) && !letter.empty())
        letters.back().push_back(letter), letter.clear();
      letter += piece;
    }
    letters.back().push_back(letter);
    tallest = std::max(tallest, letters.back().size());
  }
  std::string text;
  for (std::size_t depth = 0; depth < tallest; ++depth) {
    std::string line(static_cast<std::size_t>(figure.plan.label_width > 0 ? figure.plan.label_width + 1 : 0), ' ');
    for (const std::vector<std::string>& label : letters)
      line += pad_right(depth < label.size() ? cut_to_width(label[depth], width) : "", width);
    text += trimmed(line);
  }
  return text;
}

std::string halves_panel(const TerminalFigure& figure, Index panel) {
  const TerminalColor color = figure.spec.options.terminal_color;
  const PoolPlan& pool = figure.plan.pool;
  const bool plain = color == TerminalColor::plain;
  const Index rows_per_line = plain ? 1 : 2;
  std::string text;
  for (Index row = 0; row < pool.rows(); row += rows_per_line) {
    ColorLine line(color);
    line.add(query_label(figure, row * pool.block_queries), "");
    for (Index column = 0; column < pool.columns(); ++column) {
      if (plain) {
        const CellKind kind = cell_kind(figure.cells, panel, row, column);
        line.add(
            kind != CellKind::value ? mark_of(kind) : shade_of(place_of(figure, panel, row, column), figure.range.by_magnitude()),
            "");
      } else {
        const Rgb upper = ground_of(figure, panel, row, column);
        const bool last = row + 1 >= pool.rows();
        line.add("▀",
                 foreground_code(upper, color) + (last ? "" : background_code(ground_of(figure, panel, row + 1, column), color)));
      }
    }
    text += line.end();
  }
  return text;
}

}  // namespace v1
}  // namespace attn
