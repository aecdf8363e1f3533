#pragma once

#include <string>
#include <string_view>

#include "attn/render/picture.hpp"
#include "render/colormap.hpp"

namespace attn {
inline namespace v1 {

/// A label safe to print: control and invisible characters written as escapes, blanks at its ends made visible, cut with
/// an ellipsis between graphemes so that it takes at most `cells` cells.
std::string terminal_label(std::string_view token, int cells);
/// The text cut like a label, which must be safe already.
std::string cut_to_width(std::string_view text, int cells);
/// The text with blanks before or after it until it takes `cells` cells.
std::string pad_left(std::string_view text, int cells);
std::string pad_right(std::string_view text, int cells);

/// Text on a coloured ground; the text alone when the terminal has no colours. Ends in a reset.
std::string on_ground(std::string_view text, Rgb ground, TerminalColor color);
/// Switches the colours of what follows, or "" on a terminal without colours.
std::string foreground_code(Rgb rgb, TerminalColor color);
std::string background_code(Rgb rgb, TerminalColor color);
std::string reset_code(TerminalColor color);

/// The nearest of the 240 fixed colours of the 256-colour palette.
int palette_index(Rgb color);

}  // namespace v1
}  // namespace attn
