#include "render/axis_labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "render/label_text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr double kLargest = 8.5, kSmallest = 5.5;       // font sizes in points
constexpr double kLeastPixels = 7;                      // no smaller font can be read on any screen
constexpr double kLongestQuery = 96, kLongestKey = 80;  // points; longer labels end in an ellipsis
constexpr double kDigitWidth = 0.64;                    // of a digit of the pinned font, as a share of its size

/// One axis as its labels see it.
struct Axis {
  Index count = 1;
  double pitch = 1;  // pixels from one to the next
  bool by_index = false;
  bool across = false;  // labels stand side by side, not one above the other

  double digits() const { return std::floor(std::log10(static_cast<double>(std::max<Index>(1, count - 1)))) + 1; }
  /// Whether every k-th label has room in a font of this size. Numbers stand upright, so they need their width.
  bool has_room(Index k, double size) const {
    if (count <= k) return true;
    const double room = static_cast<double>(k) * pitch;
    return room >= (across && by_index ? (digits() * kDigitWidth + 0.8) * size : kLineHeight * size);
  }
  double largest_size(Index k) const {
    const double room = static_cast<double>(k) * pitch;
    return count <= k ? 1e9 : room / (across && by_index ? digits() * kDigitWidth + 0.8 : kLineHeight);
  }
};

/// Steps that readers can count on: 1, 2, 5, 10, 20, ... for numbers, a few more for tokens.
Index next_step(Index k, bool numbers) {
  constexpr std::array<Index, 3> kNumberSteps = {2, 5, 10};
  constexpr std::array<Index, 12> kTokenSteps = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120};
  if (!numbers && k < 6) return k + 1;
  if (!numbers && k < 8) return 8;
  Index power = 1;
  while (power * (numbers ? 10 : 100) <= k) power *= 10;
  if (numbers) return power * *std::upper_bound(kNumberSteps.begin(), kNumberSteps.end(), k / power);
  return power * *std::upper_bound(kTokenSteps.begin(), kTokenSteps.end(), k / power);
}

Index choose_step(const PictureOptions& options, const Axis& query, const Axis& key, double smallest) {
  if (options.labels == LabelMode::all) return 1;
  if (options.labels == LabelMode::every) return options.label_every;
  Index k = 1;
  while (!query.has_room(k, smallest) || !key.has_room(k, smallest)) k = next_step(k, query.by_index || key.by_index);
  return k;
}

std::vector<AxisLabel> shape_axis(const std::vector<std::string>& tokens, Index count, const AxisLabelPlan& plan, double longest,
                                  Fonts& fonts) {
  std::vector<AxisLabel> labels;
  for (Index i = 0; i < count; i += plan.every)
    labels.push_back({i, fonts.shape(shown_label(tokens, static_cast<std::size_t>(i)), plan.size, Weight::regular, longest)});
  return labels;
}

double widest(const std::vector<AxisLabel>& labels) {
  double width = 0;
  for (const AxisLabel& label : labels) width = std::max(width, label.text.width);
  return width;
}

void choose_key_angle(const FigureSpec& spec, const CellPlan& cells, double pixels, double step, AxisLabelPlan& plan) {
  const double width = widest(plan.key);
  const bool alone = plan.key.size() == 1;
  const double room = alone ? static_cast<double>(cells.panel_width() + (cells.panel_columns > 1 ? cells.gap_x : 0)) : step;
  // Words must stand apart; single characters, Chinese ones above all, are read side by side, and turning them wins nothing.
  const double margin = (width <= 1.1 * plan.size ? 0.12 : 0.5) * plan.size;
  // Slanting labels in the hole of an unfinished last row would run into the panel beside it.
  const bool has_hole = cells.panel_rows > 1 && spec.panels % cells.panel_columns != 0;
  if (width + margin <= room || (alone && cells.panel_columns == 1 && width <= 3 * room))
    plan.key_angle = 0;
  else if (room >= kLineHeight * std::sqrt(2.0) * plan.size && !has_hole)
    plan.key_angle = 45;
  else
    plan.key_angle = 90;
  const double slope = plan.key_angle * std::acos(-1.0) / 180;
  plan.key_extent = width * std::sin(slope) + (plan.key_angle == 90 ? 0 : kLineHeight * plan.size * std::cos(slope)) + 3 * pixels;
}

/// In a grid the last number under a panel must not run into the first one under the next.
void clear_gaps(const CellPlan& cells, AxisLabelPlan& plan) {
  if (plan.key_angle != 0 || cells.panel_columns == 1 || plan.key.empty()) return;
  const auto center = [&](const AxisLabel& label) { return (static_cast<double>(label.index) + 0.5) * cells.key_pitch(); };
  const double next =
      static_cast<double>(cells.panel_width() + cells.gap_x) + center(plan.key.front()) - plan.key.front().text.width / 2;
  while (plan.key.size() > 1 && center(plan.key.back()) + plan.key.back().text.width / 2 + 0.4 * plan.size > next)
    plan.key.pop_back();
}

}  // namespace

AxisLabelPlan plan_axis_labels(const FigureSpec& spec, const CellPlan& cells, double pixels, Fonts& fonts) {
  AxisLabelPlan plan;
  if (spec.options.labels == LabelMode::none) return plan;
  const Axis query{spec.queries, cells.query_pitch(), spec.query_tokens.empty(), false};
  const Axis key{spec.keys, cells.key_pitch(), spec.key_tokens.empty(), true};
  const double smallest = std::max(kLeastPixels, kSmallest * pixels);
  plan.every = choose_step(spec.options, query, key, smallest);
  const double room = std::min(query.largest_size(plan.every), key.largest_size(plan.every));
  const double floor = spec.options.labels == LabelMode::automatic ? smallest : 4;
  plan.size = std::clamp(room, std::min(floor, smallest), std::max(smallest, kLargest * pixels));
  plan.query = shape_axis(spec.query_tokens, spec.queries, plan, kLongestQuery * pixels, fonts);
  plan.key = shape_axis(spec.key_tokens, spec.keys, plan, kLongestKey * pixels, fonts);
  plan.query_extent = widest(plan.query) + 5 * pixels;
  const double step = static_cast<double>(plan.every) * cells.key_pitch();
  choose_key_angle(spec, cells, pixels, step, plan);
  clear_gaps(cells, plan);
  plan.query_ticks = plan.every > 1;
  plan.key_ticks = plan.every > 1 || plan.key_angle == 45;
  return plan;
}

}  // namespace v1
}  // namespace attn
