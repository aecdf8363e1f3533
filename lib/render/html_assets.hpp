#pragma once

#include <string_view>

namespace attn {
inline namespace v1 {

/// A page as it is written by hand under lib/render/web: markup with places like {{style}} to fill, and what goes there.
struct WebPage {
  std::string_view markup;
  std::string_view style;
  std::string_view style_sha256;  ///< 64 hexadecimal digits
  std::string_view script;
  std::string_view script_sha256;
};

/// Heatmap and line view of attention weights.
const WebPage& attention_page();
/// The steps of a small computation, one query at a time.
const WebPage& explanation_page();

}  // namespace v1
}  // namespace attn
