#pragma once

#include <string>

#include "render/html_plan.hpp"
#include "render/html_rows.hpp"

namespace attn {
inline namespace v1 {

/// What the page is told before the numbers, as JSON: layers, tokens, packing, options.
std::string describe_page(const PictureSpec& spec, const HtmlPlan& plan);
/// Throws `mismatch` for values that the scale has no place for: as soon as they are known.
void check_facts(const PictureOptions& options, const HtmlFacts& facts);
/// What it is told after them, as JSON: the range of the values, how exact they are, and the colours.
std::string describe_facts(const PictureOptions& options, const HtmlFacts& facts);

}  // namespace v1
}  // namespace attn
