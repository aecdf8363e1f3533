#pragma once

#include "io/format.hpp"

namespace attn {
inline namespace v1 {

/// The format whose extension the path ends in (in any case), or null.
const ArrayFormat* format_of_extension(std::string_view path);

}  // namespace v1
}  // namespace attn
