#pragma once

#include <string>
#include <string_view>

#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// Appends the numbers of row `row` of the block with the fewest digits that read back exactly, -0 as 0, a
/// separator between them. NaN, Infinity and -Infinity stand between `quote`s ("" or "\"").
void append_numbers(std::string& out, const RowBlock& rows, Index row, char separator, std::string_view quote);

/// The product of all axes but the last: how many rows there are.
Index row_count(const Shape& shape);

}  // namespace v1
}  // namespace attn
