#include "render/figure_picture.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr int kDefaultDpi = 192;

PoolPlan pool_plan(const FigureSpec& spec, const CellPlan& cells) {
  return {spec.panels, spec.queries, spec.keys, cells.block_queries, cells.block_keys, spec.options.pool == Pool::mean};
}

/// As many numbers as stand clear of each other along the bar.
int most_ticks(const Layout& layout) {
  const double length = layout.bar.vertical ? layout.bar.height : layout.bar.width;
  return static_cast<int>(std::clamp(length / ((layout.bar.vertical ? 16 : 26) * layout.pixels), 2.0, 8.0));
}

ValueMarks marks_of(const FigureSpec& spec, const Layout& plan, const PooledCells& cells, const ColorRange& range) {
  ValueMarks marks;
  marks.ticks = color_ticks(range, most_ticks(plan));
  marks.below = range.below();
  marks.above = range.above();
  marks.name = spec.value_name;
  if (range.scale() == ColorScale::log) marks.name += " (log)";
  if (range.scale() == ColorScale::sqrt) marks.name += " (square root)";
  marks.kinds = kinds_shown(cells);
  marks.pooling = pooling_text(plan.cells, spec.options, range.by_magnitude());
  return marks;
}

}  // namespace

FigurePicture::FigurePicture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget, SaveFigure save,
                             CheckLayout check)
    : spec_(figure_spec(spec)), bytes_(bytes), budget_(budget), save_(save) {
  if (spec_.options.dpi == 0) spec_.options.dpi = kDefaultDpi;
  fonts_ = std::make_unique<Fonts>(spec_.options.font);
  plan_ = plan_layout(spec_, spec_.options.dpi / 72.0, *fonts_);
  check(plan_, budget_);
  cells_ = std::make_unique<PooledCells>(pool_plan(spec_, plan_.cells), spec_.visibility, budget_);
}

void FigurePicture::finish() {
  cells_->finish();
  const ColorRange range(spec_.options, *cells_);
  const Layout layout = final_layout(spec_, plan_, marks_of(spec_, plan_, *cells_, range), *fonts_);
  save_({spec_, layout, *cells_, range}, *fonts_, bytes_, budget_);
  notes_ = fonts_->notes();
  if (spec_.options.annotate == Annotate::always && cells_->plan().pooled())
    notes_.push_back("--annotate always: several cells share a pixel, so there are no numbers in them");
}

std::string scale_text(const ColorRange& range) {
  const char* scale = range.scale() == ColorScale::log ? "log" : range.scale() == ColorScale::sqrt ? "sqrt" : "linear";
  return concat(format_rounded(range.low(), 6), " to ", format_rounded(range.high(), 6), " ", scale, " ", range.map().name);
}

}  // namespace v1
}  // namespace attn
