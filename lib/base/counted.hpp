#pragma once

#include <string>
#include <string_view>

#include "attn/base/array.hpp"
#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {

/// "1 head", "3 heads": for messages.
inline std::string counted(Index count, std::string_view singular) { return concat(count, " ", singular, count == 1 ? "" : "s"); }

}  // namespace v1
}  // namespace attn
