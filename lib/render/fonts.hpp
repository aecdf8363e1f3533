#pragma once

#include <memory>
#include <string>
#include <vector>

// Of cairo and Pango, whose headers stay in the sources.
typedef struct _cairo cairo_t;
typedef struct _PangoLayout PangoLayout;

namespace attn {
inline namespace v1 {

/// A line of text, shaped and measured. Lengths are in pixels of the picture.
struct Text {
  std::shared_ptr<PangoLayout> layout;
  double width = 0;     ///< advance width
  double baseline = 0;  ///< from the top of the layout
  double size = 0;      ///< font size
};

enum class Weight { regular, bold };
/// Which point of the text stands at the place it is drawn at; vertically always the middle of its capital letters.
enum class Anchor { left, center, right };

/// Shapes text with pinned fonts (DejaVu Sans, and Noto Sans CJK for Chinese, Japanese and Korean), so that a picture has
/// the same bytes on every machine that has them; other fonts of the system serve only for what these two lack.
/// When it ends, another picture, on any thread, may go on with the opened fonts: its texts end before it.
class Fonts {
 public:
  /// `family` "" for the pinned fonts. Throws `usage` with the nearest name for a family that is not installed.
  explicit Fonts(const std::string& family);
  ~Fonts();
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  /// Text wider than `max_width` (0: no limit) ends in an ellipsis, cut between graphemes.
  Text shape(const std::string& utf8, double size, Weight weight = Weight::regular, double max_width = 0);

  /// One note for each Debian package whose fonts have glyphs that were asked for and that no font here has.
  std::vector<std::string> notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Draws with the current colour; (x, y) is the anchor. `angle` in degrees, counter-clockwise.
void draw_text(cairo_t* cairo, const Text& text, double x, double y, Anchor anchor, double angle = 0);

/// For a number: how far to move it right so that no stroke crosses its middle, at most a quarter of the font size. Cells
/// show the colour of their value at their very centre, below the number too.
double clear_middle(const Text& text);
/// Of the cell that such a number fills from edge to edge.
double clear_width(const Text& text);

/// Of the capital letters of the pinned font, as a share of the font size.
inline constexpr double kCapHeight = 0.73;
/// From one line to the next, as a share of the font size.
inline constexpr double kLineHeight = 1.2;

}  // namespace v1
}  // namespace attn
