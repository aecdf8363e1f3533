#include "render/colormap.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/render/picture.hpp"

namespace attn {
inline namespace v1 {
namespace {

double linear_light(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

}  // namespace

Rgb Colormap::at(double place) const {
  if (!(place > 0)) return colors.front();
  const double last = static_cast<double>(colors.size() - 1);
  return colors[static_cast<std::size_t>(std::min(place * static_cast<double>(colors.size()), last))];
}

std::vector<std::string> colormap_names() {
  std::vector<std::string> names;
  for (const Colormap& map : colormaps()) names.emplace_back(map.name);
  return names;
}

const Colormap& find_colormap(std::string_view name) {
  for (const Colormap& map : colormaps())
    if (map.name == name) return map;
  const std::vector<std::string> names = colormap_names();
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  fail_with_hint(ErrorKind::usage, did_you_mean(name, names), "no colormap is called '", printable(name), "'; known: ", known);
}

double relative_luminance(Rgb color) {
  return 0.2126 * linear_light(color.red) + 0.7152 * linear_light(color.green) + 0.0722 * linear_light(color.blue);
}

Rgb contrasting(Rgb background) {
  // At luminance 0.179 black and white have the same contrast, (L + 0.05) / 0.05 = 1.05 / (L + 0.05) = 4.58.
  return relative_luminance(background) > 0.179 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

}  // namespace v1
}  // namespace attn
