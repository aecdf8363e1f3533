#include "core/kernels/tiled_query_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
inline namespace v1 {
namespace {

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

Index group_rows(const AttentionSizes& sizes) { return sizes.heads / sizes.kv_heads * sizes.queries; }

}  // namespace

template <typename T>
QueryRows<T>::QueryRows(const TiledPlan<T>& plan, Carver& carver) : plan_(plan), careful_(plan), guard_(plan) {
  const AttentionSizes& sizes = plan.job.sizes;
  const Index rows = group_rows(sizes), v = plan.value_size();
  rows_.resize(static_cast<std::size_t>(rows));
  queries_ = carver.take<T>(rows * sizes.head_size);
  scores_ = carver.take<T>(tile::kMaxRows * kKeyBlock);
  bias_ = carver.take<T>(kKeyBlock);
  values_now_ = carver.take<T>(rows * v);
  values_earlier_ = carver.take<T>(rows * v);
  lanes_ = carver.take<T>(rows * 4);
  allowed_ = carver.take<std::uint8_t>(kKeyBlock);
}

template <typename T>
void QueryRows<T>::start(Index batch, Index kv_head) {
  const AttentionSizes& sizes = plan_.job.sizes;
  batch_ = batch, kv_head_ = kv_head;
  const Index group = sizes.heads / sizes.kv_heads, v = plan_.value_size();
  for (Index r = 0; r < count(); ++r) {
    Row& row = rows_[static_cast<std::size_t>(r)];
    T* const lanes = lanes_ + 4 * r;
    row.head = kv_head * group + r / sizes.queries;
    row.query = r % sizes.queries;
    row.now = {lanes, lanes + 1, v > 0 ? values_now_ + r * v : nullptr};
    row.earlier = {lanes + 2, lanes + 3, v > 0 ? values_earlier_ + r * v : nullptr};
    start_row(row, queries_ + r * sizes.head_size);
  }
}

template <typename T>
void QueryRows<T>::start_row(Row& row, T* packed) {
  const T* const query = plan_.job.query.template row<T>(batch_, row.head, row.query);
  row.visible = plan_.job.masks->visible_keys({batch_, row.head, {row.query, row.query + 1}});
  row.has_earlier = row.output_check = false;
  row.peak = 0;
  for (Index c = 0; c < plan_.job.sizes.head_size; ++c) {
    packed[c] = query[c] * plan_.query_factor;
    row.peak = std::max(row.peak, std::abs(query[c]));
  }
  const T sink = plan_.sink(row.head);
  row.check = sink == -kInfinity<T> ? T(0) : sink - sink;
  clear(row.now, 1, plan_.value_size());
}

template <typename T>
void QueryRows<T>::fold() {
  const Index v = plan_.value_size();
  // The values of all rows lie side by side, so all rows fold together; merging with nothing changes no bit.
  for (Row& row : rows_) {
    if (!row.has_earlier) clear(row.earlier, 1, v);
    merge(row.earlier, row.now, 1, v, plan_.power_unit);
    row.has_earlier = true;
    clear(row.now, 1, v);
  }
}

template <typename T>
void QueryRows<T>::advance(Range range, bool guarded) {
  Range seen{range.end, range.begin};
  for (const Row& row : rows_) {
    if (row.visible.empty()) continue;
    seen = {std::min(seen.begin, row.visible.begin), std::max(seen.end, row.visible.end)};
  }
  seen = {std::max(seen.begin - seen.begin % tile::kRowStep, range.begin), std::min(seen.end, range.end)};
  for (Index at = seen.begin; at < seen.end; at = (at / kKeyBlock + 1) * kKeyBlock) {
    if (at % plan_.stretch == 0 && at > seen.begin) fold();
    block({at, std::min((at / kKeyBlock + 1) * kKeyBlock, seen.end)}, guarded);
  }
}

template <typename T>
void QueryRows<T>::block(Range keys, bool guarded) {
  for (Index first = 0; first < count(); first += tile::kMaxRows) {
    const Index rows = std::min(tile::kMaxRows, count() - first);
    score(first, rows, keys);
    for (Index r = 0; r < rows; ++r) {
      Row& row = rows_[static_cast<std::size_t>(first + r)];
      settle_row(row, keys, scores_ + r * kKeyBlock);
    }
    if (plan_.sums_values()) add_values(first, rows, keys, guarded);
  }
}

template <typename T>
void QueryRows<T>::score(Index first, Index rows, Range keys) {
  const TensorView& key = plan_.job.key;
  const TensorView& value = plan_.job.value;
  const Index d = plan_.job.sizes.head_size;
  // While keys arrive, the values of the same block are on their way.
  const T* const values = plan_.sums_values() ? value.template row<T>(batch_, kv_head_, keys.begin) : nullptr;
  plan_.steps.row_scores({queries_ + first * d, d, rows, d, key.template row<T>(batch_, kv_head_, keys.begin), key.row_stride,
                          keys.end - keys.begin, plan_.job.sizes.keys - keys.end, values, value.row_stride, plan_.value_size(),
                          scores_, kKeyBlock});
}

/// What is added to the scores of one row, -inf where it may not see; null for nothing.
template <typename T>
const T* QueryRows<T>::bias_row(const Row& row, Range keys) {
  const MaskSet& masks = *plan_.job.masks;
  const QueryBlock block{batch_, row.head, {row.query, row.query + 1}};
  const Coverage coverage = masks.blocks() ? masks.coverage(block, keys) : Coverage::all;
  if (coverage == Coverage::all && !masks.biases()) return nullptr;
  const Index count = keys.end - keys.begin;
  if (masks.biases())
    masks.bias(batch_, row.head, row.query, keys, bias_);
  else
    std::fill_n(bias_, count, T(0));
  if (coverage != Coverage::all) masks.allowed(batch_, row.head, row.query, keys, allowed_);
  for (Index j = 0; j < count; ++j)
    bias_[j] =
        coverage == Coverage::all || allowed_[j] ? std::max(bias_[j], plan_.least_bias) * plan_.bias_factor : -kInfinity<T>;
  return bias_;
}

/// Scores of a row to powers; its running maximum, total and values follow.
template <typename T>
void QueryRows<T>::settle_row(Row& row, Range keys, T* scores) {
  const Index count = keys.end - keys.begin, whole = (count + tile::kRowStep - 1) / tile::kRowStep * tile::kRowStep;
  tile::RowSettleStep<T> settle{scores, count, plan_.cap_height, plan_.cap_shrink, bias_row(row, keys), T(0), T(0)};
  plan_.steps.row_settle(settle);
  row.check += settle.check;
  std::fill(scores + count, scores + whole, -kInfinity<T>);

  const T before = *row.now.maximum, after = std::max(before, settle.highest);
  tile::RowPowerStep<T> power{scores, whole, after == -kInfinity<T> ? T(0) : after, T(0)};
  plan_.steps.row_powers(power);
  const T keep = before == after ? T(1) : std::exp2(before - after);
  *row.now.maximum = after;
  *row.now.total = *row.now.total * keep + power.total;
  if (keep != 1)
    for (Index c = 0; c < plan_.value_size(); ++c) row.now.values[c] *= keep;
}

template <typename T>
void QueryRows<T>::add_values(Index first, Index rows, Range keys, bool guarded) {
  const TensorView& value = plan_.job.value;
  const Index v = plan_.job.sizes.value_size;
  const T* values = value.template row<T>(batch_, kv_head_, keys.begin);
  Index stride = value.row_stride;
  if (guarded) {
    values = guard_.copy(batch_, rows_.front().head, keys);
    stride = v;
    for (Index r = 0; r < rows; ++r) mark_bad_values(rows_[static_cast<std::size_t>(first + r)]);
  }
  plan_.steps.row_sums({scores_, kKeyBlock, rows, keys.end - keys.begin, values, stride, v, values_now_ + first * v, v});
}

template <typename T>
void QueryRows<T>::mark_bad_values(Row& row) {
  for (const Index key : guard_.bad_keys()) {
    plan_.job.masks->allowed(batch_, row.head, row.query, {key, key + 1}, allowed_);
    row.output_check = row.output_check || allowed_[0] != 0;
  }
}

template <typename T>
void QueryRows<T>::conclude(Row& row) const {
  const Index v = plan_.value_size();
  if (row.has_earlier) {
    merge(row.earlier, row.now, 1, v, plan_.power_unit);
    copy_sums(row.earlier, row.now, 1, v);
    row.has_earlier = false;
  }
  const T sink = plan_.sink(row.head);
  if (sink != -kInfinity<T>) merge_sink(row.now, sink, 1, v, plan_.power_unit);
}

template <typename T>
bool QueryRows<T>::doubtful(const Row& row) const {
  if (plan_.all_careful || row.check != 0 || plan_.loses_digits(row.peak)) return true;
  const bool deep = plan_.deep(*row.now.maximum);
  if (!deep && plan_.job.empty_rows == EmptyRows::zero) return false;
  const bool empty = plan_.job.masks->row_is_empty(batch_, row.head, row.query);
  return empty ? plan_.job.empty_rows != EmptyRows::zero : deep;
}

template <typename T>
void QueryRows<T>::write_output(Row& row) const {
  if (!plan_.sums_values()) return;
  const T factor = *row.now.total > 0 ? 1 / *row.now.total : T(0);
  T* const output = plan_.wanted.output->template row<T>(batch_, row.head, row.query);
  T seen = 0;
  for (Index c = 0; c < plan_.value_size(); ++c) {
    output[c] = row.now.values[c] * factor;
    seen += output[c] - output[c];
  }
  row.output_check = row.output_check || seen != 0;
}

template <typename T>
bool QueryRows<T>::needs_guard() const {
  for (const Row& row : rows_)
    if (row.output_check && !doubtful(row) && guard_.finds_bad_values(batch_, row.head, row.visible)) return true;
  return false;
}

template <typename T>
void QueryRows<T>::finish() {
  for (Row& row : rows_) conclude(row), write_output(row);
  if (needs_guard()) {
    // Values that are not finite are rare enough to begin again.
    start(batch_, kv_head_);
    advance({0, plan_.job.sizes.keys}, true);
    for (Row& row : rows_) conclude(row), write_output(row);
  }
  for (Row& row : rows_) {
    if (plan_.wanted.lse)
      *plan_.wanted.lse->template row<T>(batch_, row.head, row.query) = plan_.log_sum_exp(*row.now.maximum, *row.now.total);
    redo(row);
  }
}

template <typename T>
void QueryRows<T>::redo(Row& row) {
  const bool whole = doubtful(row);
  if (!whole && !row.output_check) return;
  careful_.compute(batch_, row.head, row.query, false);
  careful_.write_output(batch_, row.head, row.query);
  if (whole) careful_.write_log_sum_exp(batch_, row.head, row.query);
}

template class QueryRows<float>;
template class QueryRows<double>;

}  // namespace v1
}  // namespace attn
