#pragma once

#include "attn/render/picture.hpp"
#include "render/colormap.hpp"
#include "render/layout.hpp"

namespace attn {
inline namespace v1 {

/// Two colours and a pattern: what a cell without a value looks like.
struct Hatch {
  Rgb ground, line;
  bool rising = false, falling = false, level = false;  ///< the lines it has
};

/// The colours of a figure that are not values. None of the hatches' colours is in a colormap.
struct ThemeColors {
  Rgb paper, ink, faint;
  Hatch blocked, empty, nan;

  const Hatch& hatch(CellKind kind) const;
};

const ThemeColors& theme_colors(Theme theme);

}  // namespace v1
}  // namespace attn
