#include "render/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/label_text.hpp"
#include "render/renderer.hpp"
#include "render/terminal_text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr int kLongestLabel = 16, kLeastColumns = 8;
constexpr Index kMostBlockRows = 64, kMostHalfRows = 96;

Index divide_up(Index count, Index by) { return (count + by - 1) / by; }

int label_width(const FigureSpec& spec, int columns) {
  if (spec.options.labels == LabelMode::none) return 0;
  const int longest = std::max(1, std::min(kLongestLabel, columns / 3));
  if (spec.query_tokens.empty()) return std::min(longest, display_width(std::to_string(spec.queries - 1)));
  int width = 1;
  for (const std::string& token : spec.query_tokens) width = std::max(width, display_width(terminal_label(token, longest)));
  return width;
}

/// The colour bar: its ends in numbers, and between them the colours or shades.
std::string legend_line(const TerminalFigure& figure) {
  const TerminalColor color = figure.spec.options.terminal_color;
  const std::string low = (figure.range.below() ? "≤" : "") + format_rounded(figure.range.low(), 3);
  const std::string high = (figure.range.above() ? "≥" : "") + format_rounded(figure.range.high(), 3);
  const int room = figure.plan.columns - display_width(low) - display_width(high) - 2;
  if (room < 4) return cut_to_width(low + ".." + high, figure.plan.columns) + "\n";
  const int length = std::min(room, 24);
  std::string bar;
  for (int i = 0; i < length; ++i) {
    const double place = (i + 0.5) / length;
    bar += color == TerminalColor::plain ? std::string(shade_of(place, figure.range.by_magnitude()))
                                         : background_code(figure.range.map().at(place), color) + " ";
  }
  std::string line = low + " " + bar + reset_code(color) + " " + high;
  const int left = figure.plan.columns - display_width(low) - display_width(high) - 2 - length;
  std::string name = figure.spec.value_name;
  if (figure.range.scale() == ColorScale::log) name += " (log)";
  if (figure.range.scale() == ColorScale::sqrt) name += " (square root)";
  if (left > display_width(name)) line += " " + name;
  return line + "\n";
}

/// Takes from the front what fits a line, words unbroken, with the blank behind it.
std::string take_line(std::string& words, int columns) {
  std::string line = words;
  while (display_width(line) > columns && line.rfind(' ') != std::string::npos) line.resize(line.rfind(' '));
  words.erase(0, std::min(words.size(), line.size() + 1));
  return cut_to_width(line, columns);
}

/// Words on cells without a value, on pooling and on axes, as many on a line as fit.
std::string notes_text(const TerminalFigure& figure) {
  std::vector<std::string> notes = {"rows: queries", "columns: keys"};
  for (const CellKind kind : kinds_shown(figure.cells))
    notes.push_back(kind == CellKind::blocked ? "· blocked" : kind == CellKind::empty ? "- empty row" : "? NaN");
  const PoolPlan& pool = figure.plan.pool;
  const char* what = pool.mean ? "mean" : figure.range.by_magnitude() ? "largest magnitude" : "max";
  if (pool.pooled()) notes.push_back(concat("1 cell = ", what, " of ", pool.block_queries, "×", pool.block_keys));
  std::string text, line;
  for (std::string& note : notes) {
    if (!line.empty() && display_width(line) + 3 + display_width(note) > figure.plan.columns) text += line + "\n", line.clear();
    for (; display_width(note) > figure.plan.columns; text += line + "\n", line.clear())
      line = take_line(note, figure.plan.columns);
    line += (line.empty() ? "" : "   ") + note;
  }
  return text + line + "\n";
}

class TerminalPicture : public Picture {
 public:
  TerminalPicture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget)
      : spec_(figure_spec(spec)), plan_(plan_terminal(spec_)), bytes_(bytes), cells_(plan_.pool, spec_.visibility, budget) {}

  void encode(const RowBlock& rows, std::string& encoded) const override { cells_.encode(rows, encoded); }
  void append(const RowBlock&, std::string_view encoded) override { cells_.append(encoded); }
  void finish() override {
    cells_.finish();
    const ColorRange range(spec_.options, cells_);
    if (plan_.mode == TerminalMode::blocks && numbers_fit({spec_, plan_, cells_, range})) plan_.mode = TerminalMode::numbers;
    bytes_.write(terminal_text({spec_, plan_, cells_, range}));
  }

 private:
  FigureSpec spec_;
  TerminalPlan plan_;
  ByteSink& bytes_;
  PooledCells cells_;
};

}  // namespace

TerminalPlan plan_terminal(const FigureSpec& spec) {
  TerminalPlan plan;
  plan.columns = std::max(kLeastColumns, spec.options.terminal_columns);
  plan.label_width = label_width(spec, plan.columns);
  plan.pool = {spec.panels, spec.queries, spec.keys, 1, 1, spec.options.pool == Pool::mean};
  const Index room = plan.columns - plan.label_width - 1;
  if (spec.options.annotate == Annotate::always) {
    plan.mode = TerminalMode::numbers;
  } else if (2 * spec.keys <= room && spec.queries <= kMostBlockRows) {
    plan.mode = TerminalMode::blocks;
  } else {
    plan.mode = TerminalMode::halves;
    const Index rows = spec.options.terminal_color == TerminalColor::plain ? kMostHalfRows / 2 : kMostHalfRows;
    const Index block = std::max(divide_up(spec.keys, room), divide_up(spec.queries, rows));
    // A few rows of many keys, or the other way round, would vanish if both were gathered alike.
    plan.pool.block_keys = spec.keys <= room && spec.keys < 2 * block ? 1 : block;
    plan.pool.block_queries = spec.queries <= rows && spec.queries < 4 * block ? 1 : block;
  }
  return plan;
}

std::string_view shade_of(double place, bool diverging) {
  constexpr std::array<std::string_view, 5> kShades = {" ", "░", "▒", "▓", "█"};
  const double depth = diverging ? std::abs(2 * place - 1) : place;
  return kShades[static_cast<std::size_t>(std::clamp(depth * 5, 0.0, 4.0))];
}

std::string terminal_text(const TerminalFigure& figure) {
  const FigureSpec& spec = figure.spec;
  std::string text;
  if (!spec.title.empty()) text += terminal_label(spec.title, figure.plan.columns) + "\n";
  for (Index panel = 0; panel < spec.panels; ++panel) {
    if (!spec.panel_titles.empty())
      text += cut_to_width(spec.panel_titles[static_cast<std::size_t>(panel)], figure.plan.columns) + "\n";
    text += figure.plan.mode == TerminalMode::numbers  ? numbers_panel(figure, panel)
            : figure.plan.mode == TerminalMode::blocks ? blocks_panel(figure, panel)
                                                       : halves_panel(figure, panel);
    text += "\n";
  }
  return text + legend_line(figure) + notes_text(figure);
}

std::unique_ptr<Picture> make_txt_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget) {
  return std::make_unique<TerminalPicture>(spec, bytes, budget);
}

}  // namespace v1
}  // namespace attn
