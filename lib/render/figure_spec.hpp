#pragma once

#include <string>
#include <vector>

#include "attn/render/picture.hpp"

namespace attn {
inline namespace v1 {

/// What a figure shows, resolved from a picture's one layer: sizes checked, labels and titles as they will be drawn.
struct FigureSpec {
  Index panels = 1, queries = 1, keys = 1;
  Index heads = 1;                        ///< panels of one batch item
  std::vector<std::string> panel_titles;  ///< one a panel, or none
  std::vector<std::string> query_tokens;  ///< prettified if asked for; none: by index
  std::vector<std::string> key_tokens;
  std::string title;       ///< made visible
  std::string value_name;  ///< "attention weight": what the colour bar says
  const Visibility* visibility = nullptr;
  PictureOptions options;
  std::string version;
};

/// Throws `usage` for several layers, for sizes of 0 and for options out of their range.
FigureSpec figure_spec(const PictureSpec& spec);

}  // namespace v1
}  // namespace attn
