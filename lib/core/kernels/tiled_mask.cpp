#include "core/kernels/tiled_mask.hpp"

#include <algorithm>
#include <limits>

namespace attn {
inline namespace v1 {

template <typename T>
PanelMask<T>::PanelMask(const TiledPlan<T>& plan, Carver& carver) : plan_(plan), masks_(*plan.job.masks) {
  const Index lanes = plan.width() * tile::kMaxVectors;
  rows_ = carver.take<T>(lanes * kKeyBlock);
  panel_ = carver.take<T>(lanes * kKeyBlock);
  allowed_ = carver.take<std::uint8_t>(kKeyBlock);
}

template <typename T>
void PanelMask<T>::build(const QueryBlock& queries, Index lanes, Range keys) {
  count_ = 0;
  if (keys.empty()) return;
  const Coverage whole = masks_.blocks() ? masks_.coverage(queries, keys) : Coverage::all;
  if (whole == Coverage::none) return;
  split(queries, keys, whole);
  T* panel = panel_;
  for (Index i = 0; i < count_; ++i) {
    if (plain_[i]) continue;
    segments_[i].bias = panel;
    fill(queries, lanes, segments_[i].keys, panel);
    panel += (segments_[i].keys.end - segments_[i].keys.begin) * lanes;
  }
}

/// A diagonal cuts through few of the chunks of a block: the others take the plain path, or are left out at the ends.
template <typename T>
void PanelMask<T>::split(const QueryBlock& queries, Range keys, Coverage whole) {
  if (whole == Coverage::all) return append(keys, whole);
  Range seen{keys.end, keys.begin};
  Coverage chunks[kMost];
  Index number = 0;
  for (Index at = keys.begin; at < keys.end; at = (at / kChunk + 1) * kChunk, ++number) {
    const Range chunk{at, std::min((at / kChunk + 1) * kChunk, keys.end)};
    chunks[number] = masks_.coverage(queries, chunk);
    if (chunks[number] != Coverage::none) seen = {std::min(seen.begin, chunk.begin), chunk.end};
  }
  number = 0;
  for (Index at = keys.begin; at < keys.end; at = (at / kChunk + 1) * kChunk, ++number)
    if (at >= seen.begin && at < seen.end) append({at, std::min((at / kChunk + 1) * kChunk, keys.end)}, chunks[number]);
}

template <typename T>
void PanelMask<T>::append(Range keys, Coverage coverage) {
  const bool plain = coverage == Coverage::all && !masks_.biases();
  if (count_ > 0 && plain_[count_ - 1] == plain) {
    segments_[count_ - 1].keys.end = keys.end;
    return;
  }
  plain_[count_] = plain;
  segments_[count_++] = {keys, nullptr};
}

template <typename T>
void PanelMask<T>::fill(const QueryBlock& queries, Index lanes, Range keys, T* panel) {
  const Index count = keys.end - keys.begin;
  const Index rows = queries.queries.end - queries.queries.begin;
  for (Index i = 0; i < rows; ++i) {
    T* const row = rows_ + i * kKeyBlock;
    const Index query = queries.queries.begin + i;
    if (masks_.biases()) {
      masks_.bias(queries.batch, queries.head, query, keys, row);
      for (Index j = 0; j < count; ++j) row[j] = row[j] < plan_.least_bias ? plan_.least_bias : row[j];
    } else
      std::fill(row, row + count, T(0));
    if (!masks_.blocks()) continue;
    masks_.allowed(queries.batch, queries.head, query, keys, allowed_);
    for (Index j = 0; j < count; ++j) row[j] = allowed_[j] ? row[j] : -std::numeric_limits<T>::infinity();
  }
  plan_.steps.pack({rows_, kKeyBlock, rows, count, plan_.bias_factor, panel, lanes, nullptr});
}

template class PanelMask<float>;
template class PanelMask<double>;

}  // namespace v1
}  // namespace attn
