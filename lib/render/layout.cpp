#include "render/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

// Lengths in points.
constexpr double kPad = 7, kTitle = 11, kAxisTitle = 9, kTick = 7.5, kFooter = 7;
constexpr double kBarGap = 12, kBar = 10, kArrow = 8, kTickMark = 2.5, kShortestBar = 40, kLongestFlatBar = 220;
constexpr double kQueryGap = 4;  // between the axis title and the labels beside it

/// Builds a layout from the top left: margins first, then the panels, then what stands around them.
class LayoutMaker {
 public:
  LayoutMaker(const FigureSpec& spec, const Layout& plan, const ValueMarks& marks, Fonts& fonts)
      : spec_(spec), marks_(marks), fonts_(fonts), layout_(plan), u_(plan.pixels) {
    layout_.texts.clear();
    layout_.footer.clear();
    layout_.panels.clear();
  }

  Layout make() {
    query_title_ = fonts_.shape("Query", kAxisTitle * u_);
    measure_bar();
    left_ = std::ceil(left_margin());
    right_edge_ = std::max(left_ + grid_width() + right_margin(), left_ + kPad * u_ + widest_footer());
    if (spec_.options.width_pixels) fit_width(static_cast<double>(*spec_.options.width_pixels));
    layout_.width = static_cast<Index>(std::ceil(right_edge_));
    right_edge_ = static_cast<double>(layout_.width);
    top_ = kPad * u_;
    add_title();
    // The upright axis title may be longer than thin panels are high.
    top_ = std::ceil(top_ + std::max(panel_title_height(), (query_title_.width - grid_height()) / 2));
    add_panels();
    double y = top_ + grid_height() + layout_.labels.key_extent;
    y = add_axis_titles(y);
    y = layout_.bar.vertical ? (add_vertical_bar(), y) : add_flat_bar(y);
    y = add_footer(y);
    layout_.height = static_cast<Index>(std::ceil(y + kPad * u_));
    return std::move(layout_);
  }

 private:
  double grid_width() const { return static_cast<double>(layout_.cells.width()); }
  double grid_height() const { return static_cast<double>(layout_.cells.height()); }
  double panel_width() const { return static_cast<double>(layout_.cells.panel_width()); }
  double panel_title_height() const { return spec_.panel_titles.empty() ? 0 : points::kPanelTitle * 1.3 * u_; }

  void add(const Text& text, double x, double y, Anchor anchor, double angle = 0) {
    layout_.texts.push_back({text, x, y, anchor, angle});
  }

  /// Key labels lean or hang over the corners of the panels.
  double overhang(bool right) const {
    double most = 0;
    for (const AxisLabel& label : layout_.labels.key) {
      const double center = (static_cast<double>(label.index) + 0.5) * layout_.cells.key_pitch();
      const double cosine = std::cos(layout_.labels.key_angle * std::acos(-1.0) / 180);
      const double half = 0.5 * layout_.labels.size;
      const double reach = layout_.labels.key_angle == 0 ? label.text.width / 2 : right ? half : label.text.width * cosine + half;
      most = std::max(most, reach - (right ? panel_width() - center : center));
    }
    return most;
  }

  /// What is left of a wanted width goes to both sides; numbers wider than was guessed push the colour bar nearer.
  void fit_width(double wanted) {
    if (wanted > right_edge_)
      left_ += std::floor((wanted - right_edge_) / 2);
    else
      bar_gap_ = std::max(4 * u_, bar_gap_ - (right_edge_ - wanted));
    right_edge_ = wanted;
  }

  /// From the axis title to the cells.
  double query_space() const {
    return layout_.labels.query.empty() ? kQueryGap * u_ : layout_.labels.query_extent + kQueryGap * u_;
  }

  double left_margin() const { return kPad * u_ + std::max(kAxisTitle * 1.2 * u_ + query_space(), overhang(false)); }

  void measure_bar() {
    layout_.bar = ColorBar{};
    layout_.bar.vertical = grid_height() >= kShortestBar * u_;
    name_ = fonts_.shape(marks_.name, kTick * u_, Weight::regular, std::max(80 * u_, 1.2 * grid_height()));
    ticks_.clear();
    tick_width_ = 0;
    for (const ColorTick& tick : marks_.ticks) {
      ticks_.push_back(fonts_.shape(tick.text, kTick * u_));
      tick_width_ = std::max(tick_width_, ticks_.back().width);
      layout_.bar.ticks.push_back(tick.place);
    }
    layout_.bar.arrow = std::round(kArrow * u_);
  }

  double right_margin() const {
    double margin = std::max(overhang(true), 0.0) + kPad * u_;
    if (layout_.bar.vertical)
      margin = std::max(margin, (kBarGap + kBar + kTickMark + 2) * u_ + tick_width_ + 4 * u_ + kTick * 1.2 * u_ + kPad * u_);
    else
      margin =
          std::max(margin, (kBarGap + kPad) * u_ + std::max(0.0, name_.width + tick_width_ + flat_bar_width() - grid_width()));
    return margin;
  }

  double flat_bar_width() const { return std::round(std::clamp(grid_width(), 60 * u_, kLongestFlatBar * u_)); }

  /// Words are broken into lines as wide as the picture; the third line takes what is left, with an ellipsis.
  void add_title() {
    if (spec_.title.empty()) return;
    const double room = std::max(60 * u_, right_edge_ - 2 * kPad * u_);
    std::string rest = spec_.title;
    for (int line = 0; line < 3 && !rest.empty(); ++line) {
      std::string first = rest;
      if (line < 2)
        while (fonts_.shape(first, kTitle * u_, Weight::bold).width > room && first.rfind(' ') != std::string::npos &&
               first.rfind(' ') > 0)
          first.resize(first.rfind(' '));
      const Text text = fonts_.shape(first, kTitle * u_, Weight::bold, room);
      rest.erase(0, std::min(rest.size(), first.size() + 1));
      const double middle = left_ + grid_width() / 2;
      const double x = std::clamp(middle, std::min(kPad * u_ + text.width / 2, right_edge_ / 2),
                                  std::max(right_edge_ - kPad * u_ - text.width / 2, right_edge_ / 2));
      add(text, x, top_ + 0.6 * kTitle * u_, Anchor::center);
      top_ += 1.25 * kTitle * u_;
    }
    top_ += 4 * u_;
  }

  void add_panels() {
    const CellPlan& cells = layout_.cells;
    for (Index panel = 0; panel < spec_.panels; ++panel) {
      const Index column = panel % cells.panel_columns, row = panel / cells.panel_columns;
      PanelPlace place;
      place.x = static_cast<Index>(left_) + column * (cells.panel_width() + cells.gap_x);
      place.y = static_cast<Index>(top_) + row * (cells.panel_height() + cells.gap_y);
      place.query_labels = column == 0;
      place.key_labels = panel + cells.panel_columns >= spec_.panels;
      layout_.panels.push_back(place);
      if (spec_.panel_titles.empty()) continue;
      const double room = static_cast<double>(cells.panel_width() + (spec_.panels > 1 ? cells.gap_x / 2 : 4 * cells.gap_x));
      const Text text =
          fonts_.shape(spec_.panel_titles[static_cast<std::size_t>(panel)], points::kPanelTitle * u_, Weight::regular, room);
      add(text, static_cast<double>(place.x) + panel_width() / 2, static_cast<double>(place.y) - 0.7 * points::kPanelTitle * u_,
          Anchor::center);
    }
  }

  double add_axis_titles(double y) {
    const Text key = fonts_.shape("Key", kAxisTitle * u_);
    add(query_title_, left_ - query_space() - 0.6 * kAxisTitle * u_, top_ + grid_height() / 2, Anchor::center, 90);
    y += 4 * u_;
    add(key, left_ + grid_width() / 2, y + 0.55 * kAxisTitle * u_, Anchor::center);
    return y + kAxisTitle * 1.1 * u_;
  }

  void add_vertical_bar() {
    ColorBar& bar = layout_.bar;
    bar.x = std::round(left_ + grid_width() + bar_gap_);
    bar.width = std::round(kBar * u_);
    bar.y = top_ + (marks_.above ? bar.arrow : 0);
    bar.height = grid_height() - (marks_.above ? bar.arrow : 0) - (marks_.below ? bar.arrow : 0);
    const double text_x = bar.x + bar.width + (kTickMark + 2) * u_;
    for (std::size_t i = 0; i < ticks_.size(); ++i) add(ticks_[i], text_x, bar.y + (1 - bar.ticks[i]) * bar.height, Anchor::left);
    const double name_x = text_x + tick_width_ + (4 + 0.6 * kTick) * u_;
    const double middle =
        std::max(top_ + grid_height() / 2, std::min(kPad * u_ + name_.width / 2, top_ + grid_height() / 2 + name_.width));
    add(name_, name_x, middle, Anchor::center, 90);
  }

  double add_flat_bar(double y) {
    ColorBar& bar = layout_.bar;
    y += 8 * u_;
    bar.height = std::round(0.8 * kBar * u_);
    bar.x = left_ + (marks_.below ? bar.arrow : 0);
    bar.width = flat_bar_width() - (marks_.above ? bar.arrow : 0) - (marks_.below ? bar.arrow : 0);
    bar.y = std::round(y);
    const double text_y = bar.y + bar.height + (kTickMark + 1 + 0.5 * kTick) * u_;
    for (std::size_t i = 0; i < ticks_.size(); ++i) add(ticks_[i], bar.x + bar.ticks[i] * bar.width, text_y, Anchor::center);
    add(name_, left_ + flat_bar_width() + tick_width_ / 2 + 4 * u_, bar.y + bar.height / 2, Anchor::left);
    return text_y + 0.6 * kTick * u_;
  }

  std::vector<FooterItem> footer_items() const {
    constexpr std::array<std::pair<CellKind, const char*>, 3> kExplained = {
        {{CellKind::blocked, "blocked"}, {CellKind::empty, "empty row"}, {CellKind::nan, "NaN"}}};
    std::vector<FooterItem> items;
    const auto item = [&](CellKind kind, const std::string& words) {
      FooterItem made;
      made.kind = kind;
      made.text = {fonts_.shape(words, kFooter * u_), 0, 0, Anchor::left, 0};
      made.swatch.width = kind == CellKind::value ? 0 : std::round(14 * u_);
      made.swatch.height = kind == CellKind::value ? 0 : std::round(7 * u_);
      items.push_back(made);
    };
    for (const auto& [kind, words] : kExplained)
      if (std::count(marks_.kinds.begin(), marks_.kinds.end(), kind) > 0) item(kind, words);
    if (!marks_.pooling.empty()) item(CellKind::value, marks_.pooling);
    if (layout_.labels.every > 1) item(CellKind::value, every_text(layout_.labels.every));
    return items;
  }

  static std::string every_text(Index every) {
    const Index tens = every % 100, ones = every % 10;
    const char* ending = tens >= 11 && tens <= 13 ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th";
    return concat("every ", every, ending, " label");
  }

  static double item_width(const FooterItem& item, double u) {
    return item.text.text.width + (item.swatch.width > 0 ? item.swatch.width + 3 * u : 0);
  }

  double widest_footer() const {
    double width = 0;
    for (const FooterItem& item : footer_items()) width = std::max(width, item_width(item, u_));
    return width;
  }

  double add_footer(double y) {
    layout_.footer = footer_items();
    if (layout_.footer.empty()) return y;
    y += (5 + 0.5 * kFooter) * u_;
    double x = left_;
    for (FooterItem& item : layout_.footer) {
      if (x > left_ && x + item_width(item, u_) > right_edge_ - kPad * u_) x = left_, y += 1.5 * kFooter * u_;
      item.swatch.x = std::round(x);
      item.swatch.y = std::round(y - item.swatch.height / 2);
      item.text.x = x + (item.swatch.width > 0 ? item.swatch.width + 3 * u_ : 0);
      item.text.y = y;
      x += item_width(item, u_) + 12 * u_;
    }
    return y + 0.5 * kFooter * u_;
  }

  const FigureSpec& spec_;
  const ValueMarks& marks_;
  Fonts& fonts_;
  Layout layout_;
  double u_;
  double left_ = 0, top_ = 0, right_edge_ = 0;
  double bar_gap_ = kBarGap * u_;
  Text query_title_, name_;
  std::vector<Text> ticks_;
  double tick_width_ = 0;
};

/// As wide as most numbers of a colour bar: what wider ones need is taken from the gap before it.
ValueMarks guess(const FigureSpec& spec, const CellPlan& cells) {
  ValueMarks marks;
  marks.ticks = {{0, "0.00"}};
  marks.name = spec.value_name;
  marks.kinds = {CellKind::blocked, CellKind::empty, CellKind::nan};
  marks.pooling = pooling_text(cells, spec.options, true);
  return marks;
}

double least_panel(const FigureSpec& spec, double pixels, Fonts& fonts) {
  double width = 16 * pixels;
  if (!spec.panel_titles.empty())
    width = std::max(width, fonts.shape(spec.panel_titles.back(), points::kPanelTitle * pixels).width);
  return width;
}

void refuse_too_large(const Layout& layout) {
  if (layout.width <= kLongestSide && layout.height <= kLongestSide) return;
  fail_with_hint(ErrorKind::usage, "use a smaller --cell, --width or --dpi, or fewer heads with --head", "the picture would be ",
                 layout.width, "×", layout.height, " pixels, no side may be longer than ", kLongestSide);
}

Layout try_room(const FigureSpec& spec, const Room& room, Fonts& fonts) {
  Layout layout;
  layout.pixels = room.pixels;
  layout.cells = plan_cells(spec, room);
  // The sides of the cells alone may be far beyond what fits: no label need be measured then.
  layout.width = layout.cells.width();
  layout.height = layout.cells.height();
  refuse_too_large(layout);
  layout.labels = plan_axis_labels(spec, layout.cells, room.pixels, fonts);
  return final_layout(spec, layout, guess(spec, layout.cells), fonts);
}

Layout checked(Layout layout) {
  refuse_too_large(layout);
  return layout;
}

/// The margins depend on the labels and these on the cells: from too much room down to what leaves enough for them.
std::optional<Layout> fitted(const FigureSpec& spec, Room room, Index wanted, Fonts& fonts) {
  FigureSpec free = spec;
  free.options.width_pixels.reset();
  for (room.width = static_cast<double>(wanted); room.width >= 1;) {
    const Layout tried = try_room(free, room, fonts);
    if (tried.width <= wanted) {
      free.options.width_pixels = static_cast<int>(wanted);
      return try_room(free, room, fonts);
    }
    room.width = std::min(room.width, static_cast<double>(tried.cells.width())) - static_cast<double>(tried.width - wanted);
  }
  return std::nullopt;
}

}  // namespace

std::string pooling_text(const CellPlan& cells, const PictureOptions& options, bool by_magnitude) {
  if (cells.block_queries == 1 && cells.block_keys == 1) return {};
  const char* what = options.pool == Pool::mean ? "mean" : by_magnitude ? "largest magnitude" : "max";
  return concat("1 px = ", what, " of ", cells.block_queries, "×", cells.block_keys);
}

Layout final_layout(const FigureSpec& spec, const Layout& plan, const ValueMarks& marks, Fonts& fonts) {
  return LayoutMaker(spec, plan, marks, fonts).make();
}

Layout plan_layout(const FigureSpec& spec, double pixels, Fonts& fonts) {
  const Room room{pixels, points::kArea * pixels, spec.options.width_pixels.has_value(), least_panel(spec, pixels, fonts)};
  if (!spec.options.width_pixels) return checked(try_room(spec, room, fonts));
  const Index wanted = *spec.options.width_pixels;
  if (auto layout = fitted(spec, room, wanted, fonts)) return checked(*std::move(layout));
  Index too_small = wanted, enough = wanted;
  do {
    too_small = enough;
    enough = std::min(2 * enough, kLongestSide);
  } while (enough < kLongestSide && !fitted(spec, room, enough, fonts));
  while (enough - too_small > 1) {
    const Index middle = too_small + (enough - too_small) / 2;
    (fitted(spec, room, middle, fonts) ? enough : too_small) = middle;
  }
  fail(ErrorKind::usage, "--width ", wanted, " leaves no room for the cells beside labels and colour bar; use --width ", enough,
       " or more", spec.options.labels == LabelMode::none ? "" : ", or --labels none");
}

}  // namespace v1
}  // namespace attn
