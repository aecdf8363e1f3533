#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace attn {
inline namespace v1 {

/// A colour of the sRGB space, 8 bits a channel.
struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// 256 colours from the lowest to the highest value.
struct Colormap {
  std::string_view name;
  bool diverging = false;  ///< its middle is the neutral colour
  std::array<Rgb, 256> colors;

  /// The colour of a place in [0,1]; places outside are clamped, 1 is the last colour.
  Rgb at(double place) const;
};

/// All colormaps, in the order of the help.
std::span<const Colormap> colormaps();
/// Throws ErrorKind::usage with the nearest name.
const Colormap& find_colormap(std::string_view name);

/// WCAG relative luminance, 0 (black) to 1 (white).
double relative_luminance(Rgb color);
/// Black or white, whichever reads better on `background` (contrast 4.5:1 or more on every colour).
Rgb contrasting(Rgb background);

}  // namespace v1
}  // namespace attn
