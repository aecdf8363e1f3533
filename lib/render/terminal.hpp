#pragma once

#include <string>
#include <vector>

#include "render/color_range.hpp"
#include "render/downsample.hpp"
#include "render/drawing.hpp"
#include "render/figure_spec.hpp"

namespace attn {
inline namespace v1 {

/// How a matrix is shown in characters.
enum class TerminalMode {
  numbers,  ///< each cell is its number on its colour
  blocks,   ///< each cell is two characters wide
  halves,   ///< each character is two rows of (pooled) cells; one where there are no colours
};

struct TerminalPlan {
  TerminalMode mode = TerminalMode::blocks;  ///< blocks may become numbers when the values are known
  PoolPlan pool;
  int label_width = 0;
  int columns = 80;
};

/// Decided before any value is known: what fits into the columns of the terminal.
TerminalPlan plan_terminal(const FigureSpec& spec);

/// What a terminal figure is made of.
struct TerminalFigure {
  const FigureSpec& spec;
  const TerminalPlan& plan;
  const PooledCells& cells;
  const ColorRange& range;
};

/// All lines of the figure: titles, panels, legend. No line is wider than plan.columns.
std::string terminal_text(const TerminalFigure& figure);

/// One panel, and what explains its colours, each as lines.
std::string numbers_panel(const TerminalFigure& figure, Index panel);
std::string blocks_panel(const TerminalFigure& figure, Index panel);
std::string halves_panel(const TerminalFigure& figure, Index panel);
/// Whether the numbers of all cells fit beside the labels.
bool numbers_fit(const TerminalFigure& figure);
/// Shades of grey in characters, from nothing to a full block.
std::string_view shade_of(double place, bool diverging);
/// Key labels written downwards below columns that are `width` characters wide.
std::string key_labels_downwards(const TerminalFigure& figure, int width);

}  // namespace v1
}  // namespace attn
