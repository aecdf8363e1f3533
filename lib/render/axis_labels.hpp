#pragma once

#include <string>
#include <vector>

#include "render/cell_plan.hpp"
#include "render/fonts.hpp"

namespace attn {
inline namespace v1 {

/// One label of an axis: which query or key it names, and its text.
struct AxisLabel {
  Index index = 0;
  Text text;
};

/// The labels of both axes: every `every`-th, in one font size.
struct AxisLabelPlan {
  Index every = 1;
  double size = 0;
  double key_angle = 0;  ///< 0, 45 or 90 degrees
  std::vector<AxisLabel> query, key;
  double query_extent = 0;                      ///< pixels left of the panels
  double key_extent = 0;                        ///< pixels below the panels
  bool query_ticks = false, key_ticks = false;  ///< small marks tell which cell a label belongs to
};

AxisLabelPlan plan_axis_labels(const FigureSpec& spec, const CellPlan& cells, double pixels, Fonts& fonts);

}  // namespace v1
}  // namespace attn
