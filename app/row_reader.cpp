#include "app/row_reader.hpp"

#include <algorithm>

namespace attn::app {

RowCount row_count(const Shape& shape) {
  RowCount size;
  if (shape.empty()) return size;
  size.columns = shape.back();
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) size.rows *= shape[axis];
  return size;
}

Shape place_of(Index at, const Shape& shape) {
  Shape place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return place;
}

Index rows_per_block(const RowCount& size) {
  constexpr Index kElements = 1 << 17;
  return std::clamp<Index>(kElements / std::max<Index>(size.columns, 1), 1, std::max<Index>(size.rows, 1));
}

void for_each_rows(const OpenedInput& input, std::size_t member, const Console& console,
                   const std::function<void(Index first, Index count, const double* values)>& use) {
  const RowCount size = row_count(input.member(member).shape);
  if (size.columns == 0) return;
  const Index step = rows_per_block(size);
  Buffer buffer = console.run().budget.allocate(static_cast<std::size_t>(step * size.columns) * sizeof(double), "rows to read");
  auto* values = reinterpret_cast<double*>(buffer.data());
  for (Index first = 0; first < size.rows; first += step) {
    const Index count = std::min(step, size.rows - first);
    input.file->read_rows(member, first, count, values);
    use(first, count, values);
    if (console.run().progress) console.run().progress->update("reading", first + count, size.rows);
  }
}

}  // namespace attn::app
