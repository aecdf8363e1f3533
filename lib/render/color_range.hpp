#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attn/render/picture.hpp"
#include "render/colormap.hpp"
#include "render/downsample.hpp"

namespace attn {
inline namespace v1 {

/// Which values get which colours; one for all panels of a figure.
class ColorRange {
 public:
  /// Decided by the options where they speak, else by the values shown. Throws `usage` for bounds that do not go
  /// together, `mismatch` for a log scale of negative values.
  ColorRange(const PictureOptions& options, const PooledCells& cells);

  const Colormap& map() const { return *map_; }
  ColorScale scale() const { return scale_; }
  double low() const { return low_; }
  double high() const { return high_; }
  /// Whether values shown lie outside and were clamped.
  bool below() const { return below_; }
  bool above() const { return above_; }
  /// Whether a pooled cell shows the value farthest from a centre.
  bool by_magnitude() const { return center_.has_value(); }

  /// The value a pooled cell shows, of the extremes in it: the one farther from the centre, or the higher one.
  double shown(double high, double low) const;
  /// Where a value stands on the colour bar, 0 to 1; values outside are clamped.
  double place(double value) const;
  Rgb color(double value) const { return map_->at(place(value)); }

 private:
  struct Extent {
    bool any = false;
    double least = 0, greatest = 0, least_positive = 0;
  };
  Extent extent_of(const PooledCells& cells) const;
  void choose_signed(const PictureOptions& options, const Extent& extent);
  void choose_unsigned(const PictureOptions& options, const Extent& extent);
  void choose_log(const PictureOptions& options, const Extent& extent);
  void find_clamped(const PooledCells& cells);
  double transform(double value) const;

  const Colormap* map_ = nullptr;
  ColorScale scale_ = ColorScale::linear;
  double low_ = 0, high_ = 1;
  std::optional<double> center_;  // of the diverging map
  bool below_ = false, above_ = false;
};

/// Throws `usage` for options of colours that can be refused before any value is known.
void check_color_options(const PictureOptions& options);

/// A number beside the colour bar.
struct ColorTick {
  double place = 0;  ///< 0 to 1
  std::string text;
};
/// Round numbers, at most `most` of them, rising.
std::vector<ColorTick> color_ticks(const ColorRange& range, int most);

/// Numbers in cells: the same notation for all values up to `largest` in magnitude. A minus is the character U+2212.
std::string cell_number(double value, int digits, double largest);

}  // namespace v1
}  // namespace attn
