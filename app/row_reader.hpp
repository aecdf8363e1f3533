#pragma once

#include <functional>

#include "app/array_pick.hpp"

namespace attn::app {

/// Rows of one array and their length: an array of rank 0 or 1 is one row.
struct RowCount {
  Index rows = 1;
  Index columns = 1;
};
RowCount row_count(const Shape& shape);

/// The place of flat element `at` in an array of this shape: [1,0,3].
Shape place_of(Index at, const Shape& shape);

/// How many rows are worked on at a time: about 1 MiB of float64, at least one row.
Index rows_per_block(const RowCount& size);

/// Calls `use(first, count, values)` with all rows of an array in order, as float64, a block at a time.
void for_each_rows(const OpenedInput& input, std::size_t member, const Console& console,
                   const std::function<void(Index first, Index count, const double* values)>& use);

}  // namespace attn::app
