#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/array.hpp"
#include "attn/base/row_sink.hpp"
#include "attn/base/run.hpp"

namespace attn {
inline namespace v1 {

/// How numbers are spread over the colours.
enum class ColorScale { linear, log, sqrt };
/// What a pixel shows of several cells.
enum class Pool { max, mean };
/// Whether numbers stand in the cells; automatic where they fit and are not many.
enum class Annotate { automatic, always, never };
/// Dark ink on white or light ink on dark.
enum class Theme { light, dark };
/// Which tokens are written at the axes; automatic leaves out what would not fit.
enum class LabelMode { automatic, all, none, every };
/// What the terminal that text is for can do.
enum class TerminalColor { truecolor, palette256, plain };

/// How a picture should look; the names are the options of `render`.
struct PictureOptions {
  std::string title;
  std::string colormap;  ///< "" for viridis, or RdBu where a value shown is negative or --center is given
  std::optional<double> vmin, vmax, center;
  ColorScale color_scale = ColorScale::linear;
  Annotate annotate = Annotate::automatic;
  int digits = 2;
  std::optional<int> cell_pixels;   ///< --cell
  std::optional<int> width_pixels;  ///< --width
  int dpi = 0;                      ///< 0: the default of the format
  Pool pool = Pool::max;
  LabelMode labels = LabelMode::automatic;
  int label_every = 1;  ///< with LabelMode::every
  std::string font;     ///< "" for the default family
  Theme theme = Theme::light;
  bool prettify = false;                                ///< BPE and WordPiece marks made readable
  std::optional<int> top_k;                             ///< html: only the strongest keys of each query
  TerminalColor terminal_color = TerminalColor::plain;  ///< txt
  int terminal_columns = 80;                            ///< txt
};

/// One array of the picture: [n,m], [H,n,m] or [B,H,n,m]. Formats other than html draw exactly one layer.
struct PictureLayer {
  std::string name;
  std::string where;  ///< for messages: the file and the array; may be empty
  Shape shape;
  std::vector<Index> heads;  ///< numbers for the panel titles; empty: 0..H-1
  bool reduced = false;      ///< the head axis was reduced
  AxisLabels labels;
  const Visibility* visibility = nullptr;  ///< null: no cell is blocked; must outlive the picture
  std::string kind = "weights";            ///< "weights", "scores", "difference": what the colour bar says
};

/// All that a picture is made of, but its numbers.
struct PictureSpec {
  std::vector<PictureLayer> layers;
  PictureOptions options;
  std::string version;  ///< of the tool, for metadata
};

/// A picture takes the rows of its layers one layer after the other (row numbers go on counting across layers), pools
/// them to pixels as they come, and is drawn and written by `finish`.
/// Notes (glyphs that no font has, ...) can be asked for after `finish`.
class Picture : public RowSink {
 public:
  /// Whole sentences for people; complete after `finish`.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Format is one of picture_format_names(). Throws `usage` for options that do not go together, and for sizes that are
/// refused, with what to do; `memory` when the pixels do not fit the budget. The byte sink must outlive the picture.
std::unique_ptr<Picture> make_picture(std::string_view format, const PictureSpec& spec, ByteSink& bytes,
                                      const MemoryBudget& budget);

/// Whether a path's extension or a name is a picture format: "png", "svg", "pdf", "html", "txt", or "".
std::string picture_format_of(std::string_view path_or_name);
/// Names of the formats, for make_picture.
std::vector<std::string> picture_format_names();
/// Names of the colormaps, for PictureOptions::colormap.
std::vector<std::string> colormap_names();

/// Labelled tables for terminals, with widths counted in cells (CJK and emoji are two).
struct TextTable {
  std::string title;
  std::vector<std::string> column_labels;
  std::vector<std::string> row_labels;
  std::vector<std::vector<std::string>> cells;
};
/// Lines end in \n; labels are made safe to print. `columns` is the width of the terminal; wide tables are split.
std::string format_table(const TextTable& table, int columns);
/// A token as a table shows it, cut to so many columns: for cells in which something else follows it.
std::string table_label(std::string_view token, int columns);
/// Cells a text takes on a terminal.
int display_width(std::string_view utf8);

}  // namespace v1
}  // namespace attn
