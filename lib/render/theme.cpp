#include "render/theme.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Hatch kNan = {{241, 66, 205}, {120, 0, 98}, true, true, false};

constexpr ThemeColors kLight = {{255, 255, 255},
                                {28, 28, 30},
                                {104, 104, 110},
                                {{241, 241, 247}, {203, 203, 216}, true, false, false},
                                {{251, 242, 226}, {224, 192, 138}, false, false, true},
                                kNan};
constexpr ThemeColors kDark = {{22, 23, 28},
                               {232, 232, 236},
                               {158, 158, 168},
                               {{36, 37, 46}, {72, 74, 90}, true, false, false},
                               {{52, 43, 28}, {112, 90, 48}, false, false, true},
                               kNan};

}  // namespace

const Hatch& ThemeColors::hatch(CellKind kind) const {
  return kind == CellKind::nan ? nan : kind == CellKind::empty ? empty : blocked;
}

const ThemeColors& theme_colors(Theme theme) { return theme == Theme::dark ? kDark : kLight; }

}  // namespace v1
}  // namespace attn
