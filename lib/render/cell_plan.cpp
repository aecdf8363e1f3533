#include "render/cell_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
inline namespace v1 {
namespace {

Index divide_up(Index count, Index by) { return (count + by - 1) / by; }

/// Columns of the grid of panels for the largest cells; wide grids rather than tall ones, rows of the grid without holes.
Index grid_columns(const FigureSpec& spec, const CellPlan& plan, const Room& room) {
  const double widest =
      std::floor((room.width + static_cast<double>(plan.gap_x)) / (room.least_panel + static_cast<double>(plan.gap_x)));
  const Index most = std::clamp(static_cast<Index>(widest), Index{1}, spec.panels);
  if (spec.panels > spec.heads && spec.heads <= most && spec.heads > 1) return spec.heads;
  const double height = 0.8 * room.width;
  Index best = 1;
  double best_score = -1;
  for (Index columns = 1; columns <= most; ++columns) {
    const Index rows = divide_up(spec.panels, columns);
    const double width_each = (room.width - static_cast<double>((columns - 1) * plan.gap_x)) / static_cast<double>(columns);
    const double height_each = (height - static_cast<double>((rows - 1) * plan.gap_y)) / static_cast<double>(rows);
    const double scale = std::min({width_each / static_cast<double>(spec.keys), height_each / static_cast<double>(spec.queries),
                                   points::kLargestCell * room.pixels});
    const double holes = static_cast<double>(rows * columns - spec.panels) / static_cast<double>(spec.panels);
    const double score = scale * (1 - 0.5 * holes);
    if (score >= best_score * (1 - 1e-9)) best = columns, best_score = score;
  }
  return best_score > 0 ? best : most;
}

/// A side so thin that nothing on it could be read gets cells of its own, wider than long.
void thicken(Index count, double available, double pixels, Index& cell, Index& block) {
  const double thickness = static_cast<double>(divide_up(count, block) * cell);
  const bool legible = block == 1 && static_cast<double>(cell) >= points::kLegible * pixels;
  const double least = std::min(points::kThickness * pixels, available);
  if (legible || thickness >= least) return;
  block = 1;
  cell = std::max(cell, static_cast<Index>(std::ceil(least / static_cast<double>(count))));
}

void fit(const FigureSpec& spec, const Room& room, double width, double height, CellPlan& plan) {
  const double n = static_cast<double>(spec.queries), m = static_cast<double>(spec.keys);
  const double cap = room.fill ? static_cast<double>(kLongestSide) : points::kLargestCell * room.pixels;
  const double cell = std::min({width / m, height / n, cap});
  // A sixth more area is better than half of it.
  constexpr double kStretch = 1.17;
  if (cell >= 1 || (!room.fill && cell * kStretch >= 1)) {
    plan.cell_width = plan.cell_height = std::max<Index>(1, static_cast<Index>(cell));
  } else {
    plan.cell_width = plan.cell_height = 1;
    plan.block_queries = plan.block_keys =
        std::max<Index>(1, static_cast<Index>(std::ceil(std::max(m / std::max(width, 1.0), n / std::max(height, 1.0)))));
  }
  thicken(spec.queries, height, room.pixels, plan.cell_height, plan.block_queries);
  thicken(spec.keys, width, room.pixels, plan.cell_width, plan.block_keys);
}

/// Who asks for all labels wants to read them: cells become as large as a label, if the picture stays within its limit.
void make_labels_legible(const FigureSpec& spec, double pixels, CellPlan& plan) {
  const Index least = static_cast<Index>(std::ceil(points::kLegible * pixels));
  const Index margin = static_cast<Index>(300 * pixels);
  const bool fits = plan.panel_columns * (spec.keys * least + plan.gap_x) + margin <= kLongestSide &&
                    plan.panel_rows * (spec.queries * least + plan.gap_y) + margin <= kLongestSide;
  if (!fits) return;
  plan.block_queries = plan.block_keys = 1;
  plan.cell_width = std::max(plan.cell_width, least);
  plan.cell_height = std::max(plan.cell_height, least);
}

}  // namespace

CellPlan plan_cells(const FigureSpec& spec, const Room& room) {
  CellPlan plan;
  plan.gap_x = static_cast<Index>(std::lround(points::kPanelGapX * room.pixels));
  plan.gap_y = static_cast<Index>(
      std::lround((points::kPanelGapY + (spec.panel_titles.empty() ? 0 : points::kPanelTitle * 1.3)) * room.pixels));
  plan.panel_columns = spec.panels == 1 ? 1 : grid_columns(spec, plan, room);
  plan.panel_rows = divide_up(spec.panels, plan.panel_columns);
  if (spec.options.cell_pixels) {
    plan.cell_width = plan.cell_height = *spec.options.cell_pixels;
  } else {
    const auto share = [](double all, Index count, Index gap) {
      return std::max(0.0, (all - static_cast<double>((count - 1) * gap)) / static_cast<double>(count));
    };
    // Many rows of panels may make the picture as tall as it must be; the width is what bounds them then.
    const bool tall =
        plan.panel_rows > 1 && share(0.8 * room.width, plan.panel_rows, plan.gap_y) < points::kThickness * room.pixels;
    const double height = room.fill ? static_cast<double>(kLongestSide) * 0.9 : spec.panels == 1 ? room.width : 0.8 * room.width;
    const double width_each = share(room.width, plan.panel_columns, plan.gap_x);
    fit(spec, room, width_each, tall ? width_each : share(height, plan.panel_rows, plan.gap_y), plan);
    if (spec.options.labels == LabelMode::all && !room.fill) make_labels_legible(spec, room.pixels, plan);
  }
  plan.rows = divide_up(spec.queries, plan.block_queries);
  plan.columns = divide_up(spec.keys, plan.block_keys);
  return plan;
}

}  // namespace v1
}  // namespace attn
