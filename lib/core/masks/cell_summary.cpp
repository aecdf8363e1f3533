#include "core/masks/cell_summary.hpp"

#include <algorithm>
#include <numeric>

namespace attn {
inline namespace v1 {

CellSummary::CellSummary(Index rows, Index keys)
    : keys_(keys), stretches_((keys + kStretch - 1) / kStretch), spans_(index(rows)), solid_(index(rows), 1) {}

void CellSummary::set_row(Index row, bool allowed) { spans_[index(row)] = allowed ? Range{0, keys_} : Range{0, 0}; }

void CellSummary::set_row(Index row, const std::uint8_t* allowed) {
  const Index count = std::accumulate(allowed, allowed + keys_, Index{0});
  if (count == 0 || count == keys_) return set_row(row, count > 0);
  Range& span = spans_[index(row)];
  span = {0, keys_};
  while (!allowed[span.begin]) ++span.begin;
  while (!allowed[span.end - 1]) --span.end;
  if (count == span.end - span.begin) return;

  solid_[index(row)] = 0;
  if (coverages_.empty()) coverages_.resize(spans_.size() * index(stretches_), Coverage::some);
  for (Index stretch = 0; stretch < stretches_; ++stretch) {
    const Index begin = stretch * kStretch;
    const Index length = std::min(kStretch, keys_ - begin);
    const Index seen = std::accumulate(allowed + begin, allowed + begin + length, Index{0});
    coverages_[index(row * stretches_ + stretch)] =
        seen == 0 ? Coverage::none : (seen == length ? Coverage::all : Coverage::some);
  }
}

Coverage CellSummary::coverage(Index row, Range keys) const {
  const Range& span = spans_[index(row)];
  if (keys.end <= span.begin || keys.begin >= span.end) return Coverage::none;
  const bool inside = keys.begin >= span.begin && keys.end <= span.end;
  if (solid_[index(row)]) return inside ? Coverage::all : Coverage::some;

  const Coverage* const first = coverages_.data() + row * stretches_ + keys.begin / kStretch;
  const Coverage* const last = coverages_.data() + row * stretches_ + (keys.end - 1) / kStretch;
  if (*first == Coverage::some) return Coverage::some;
  return std::find_if(first, last + 1, [&](Coverage c) { return c != *first; }) == last + 1 ? *first : Coverage::some;
}

}  // namespace v1
}  // namespace attn
