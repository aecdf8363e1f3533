#pragma once

#include <string>
#include <string_view>

#include "attn/io/array_file.hpp"

namespace attn {
inline namespace v1 {

/// Names whose text in an archive speaks to this tool: tokens, mask_kind, options, meta and the like.
bool is_metadata_name(std::string_view name);

/// A member made of text that stands for JSON: a list of strings, an object, a string, a number or a boolean. Text that
/// is no JSON is taken as it is, since `keep` is as clear as `"keep"`; but what begins a list, an object or a string
/// must be one (`malformed` names `where`).
Member metadata_member(std::string name, const std::string& text, std::string where);

}  // namespace v1
}  // namespace attn
