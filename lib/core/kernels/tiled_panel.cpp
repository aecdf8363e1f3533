#include "core/kernels/tiled_panel.hpp"

#include <cmath>
#include <limits>

namespace attn {
inline namespace v1 {
namespace {

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

}  // namespace

template <typename T>
PanelWorker<T>::PanelWorker(const TiledPlan<T>& plan, Carver& carver)
    : mask(plan, carver), careful(plan), guard(plan), plan_(plan) {
  const Index lanes = plan.width() * tile::kMaxVectors;
  highest_ = carver.take<T>(lanes);
  rescale_ = carver.take<T>(lanes);
  factor_ = carver.take<T>(lanes);
  unused_ = carver.take<T>(lanes);
}

template <typename T>
Panel<T> PanelWorker<T>::carve_panel(const TiledPlan<T>& plan, Carver& carver) {
  const Index lanes = plan.width() * tile::kMaxVectors;
  Panel<T> panel;
  panel.query = carver.take<T>(plan.job.sizes.head_size * lanes);
  panel.now = RunningSums<T>::carve(carver, lanes, plan.value_size());
  if (plan.job.sizes.keys > plan.stretch) panel.earlier = RunningSums<T>::carve(carver, lanes, plan.value_size());
  panel.check = carver.take<T>(lanes);
  panel.output_check = carver.take<T>(lanes);
  panel.query_peak = carver.take<T>(lanes);
  return panel;
}

template <typename T>
void PanelWorker<T>::start(Panel<T>& panel, const QueryBlock& block, Index lanes) {
  panel.block = block;
  panel.lanes = lanes;
  panel.visible = plan_.job.masks->visible_keys(block);
  panel.visible.begin -= panel.visible.begin % kKeyStep;
  const Index d = plan_.job.sizes.head_size;
  plan_.steps.pack({plan_.job.query.template row<T>(block.batch, block.head, block.queries.begin), plan_.job.query.row_stride,
                    panel.count(), d, plan_.query_factor, panel.query, lanes, panel.query_peak});
  const T sink = plan_.sink(block.head);
  std::fill_n(panel.check, lanes, sink == -kInfinity<T> ? T(0) : sink - sink);
  forget_sums(panel);
}

template <typename T>
void PanelWorker<T>::forget_sums(Panel<T>& panel) {
  std::fill_n(panel.output_check, panel.lanes, T(0));
  panel.has_earlier = false;
  clear(panel.now, panel.lanes, plan_.value_size());
}

template <typename T>
void PanelWorker<T>::fold(const TiledPlan<T>& plan, Panel<T>& panel) {
  if (panel.has_earlier)
    merge(panel.earlier, panel.now, panel.lanes, plan.value_size(), plan.power_unit);
  else
    std::swap(panel.earlier, panel.now);
  panel.has_earlier = true;
  clear(panel.now, panel.lanes, plan.value_size());
}

template <typename T>
void PanelWorker<T>::conclude(Panel<T>& panel) {
  if (panel.has_earlier) {
    fold(plan_, panel);
    std::swap(panel.earlier, panel.now);
  }
  const T sink = plan_.sink(panel.block.head);
  if (sink != -kInfinity<T>) merge_sink(panel.now, sink, panel.lanes, plan_.value_size(), plan_.power_unit);
}

template <typename T>
void PanelWorker<T>::forget_highest() {
  std::fill_n(highest_, plan_.width() * tile::kMaxVectors, -kInfinity<T>);
}

template <typename T>
void PanelWorker<T>::include_sink(const Panel<T>& panel) {
  const T sink = plan_.sink(panel.block.head);
  for (Index lane = 0; lane < panel.lanes; ++lane) highest_[lane] = std::max(highest_[lane], sink);
}

template <typename T>
void PanelWorker<T>::score(Panel<T>& panel, const KeySegment<T>& segment, T* scores) {
  if (plan_.cap_height != 0) {
    score_plainly(panel, segment.keys, scores, unused_);
    return settle(panel, segment, true, scores, panel.check);
  }
  const TensorView& key = plan_.job.key;
  const T* keys = key.template row<T>(panel.block.batch, plan_.job.kv_head(panel.block.head), segment.keys.begin);
  plan_.steps.scores({panel.query, plan_.job.sizes.head_size, panel.lanes, keys, key.row_stride,
                      segment.keys.end - segment.keys.begin, scores, segment.bias, highest_, panel.check});
}

template <typename T>
void PanelWorker<T>::score_plainly(Panel<T>& panel, Range range, T* scores, T* check) {
  const TensorView& key = plan_.job.key;
  const T* keys = key.template row<T>(panel.block.batch, plan_.job.kv_head(panel.block.head), range.begin);
  plan_.steps.scores({panel.query, plan_.job.sizes.head_size, panel.lanes, keys, key.row_stride, range.end - range.begin, scores,
                      nullptr, unused_, check});
}

template <typename T>
void PanelWorker<T>::settle(Panel<T>& panel, const KeySegment<T>& segment, bool cap, T* scores, T* check) {
  plan_.steps.settle({scores, segment.keys.end - segment.keys.begin, panel.lanes, cap ? plan_.cap_height : T(0), plan_.cap_shrink,
                      segment.bias, highest_, check});
}

template <typename T>
void PanelWorker<T>::raise(Panel<T>& panel, Index key_count, T* scores) {
  plan_.steps.powers({scores, key_count, panel.lanes, highest_, panel.now.maximum, panel.now.total, rescale_, plan_.power_unit});
}

template <typename T>
void PanelWorker<T>::add_values(Panel<T>& panel, Range keys, std::span<const KeySegment<T>> segments, const T* powers,
                                bool guarded) {
  if (!plan_.sums_values()) return;
  const TensorView& value = plan_.job.value;
  const T* values = value.template row<T>(panel.block.batch, plan_.job.kv_head(panel.block.head), keys.begin);
  Index stride = value.row_stride;
  if (guarded) {
    values = guard.copy(panel.block.batch, panel.block.head, keys);
    stride = plan_.job.sizes.value_size;
    for (const KeySegment<T>& segment : segments) mark_bad_values(panel, segment);
  }
  plan_.steps.sums(
      {powers, keys.end - keys.begin, panel.lanes, values, stride, plan_.job.sizes.value_size, panel.now.values, rescale_});
}

/// Lanes that may see a bad value are left to the definition.
template <typename T>
void PanelWorker<T>::mark_bad_values(Panel<T>& panel, const KeySegment<T>& segment) {
  for (const Index key : guard.bad_keys()) {
    if (key < segment.keys.begin || key >= segment.keys.end) continue;
    const T* const bias = segment.bias ? segment.bias + (key - segment.keys.begin) * panel.lanes : nullptr;
    for (Index lane = 0; lane < panel.lanes; ++lane)
      if (!bias || bias[lane] != -kInfinity<T>) panel.output_check[lane] = std::numeric_limits<T>::quiet_NaN();
  }
}

template <typename T>
const T* PanelWorker<T>::factors(const Panel<T>& panel) {
  const T* const total = panel.now.total;
  for (Index lane = 0; lane < panel.lanes; ++lane) factor_[lane] = total[lane] > 0 ? 1 / total[lane] : T(0);
  return factor_;
}

template <typename T>
bool PanelWorker<T>::doubtful(const Panel<T>& panel, Index lane) const {
  if (plan_.all_careful || panel.check[lane] != 0 || plan_.loses_digits(panel.query_peak[lane])) return true;
  const bool deep = plan_.deep(panel.now.maximum[lane]);
  if (!deep && plan_.job.empty_rows == EmptyRows::zero) return false;
  const bool empty = plan_.job.masks->row_is_empty(panel.block.batch, panel.block.head, panel.block.queries.begin + lane);
  return empty ? plan_.job.empty_rows != EmptyRows::zero : deep;
}

template <typename T>
void PanelWorker<T>::unpack_output(Panel<T>& panel) {
  if (!plan_.sums_values()) return;
  const MutableTensorView& output = *plan_.wanted.output;
  plan_.steps.unpack({panel.now.values, plan_.job.sizes.value_size, panel.lanes, factors(panel),
                      output.template row<T>(panel.block.batch, panel.block.head, panel.block.queries.begin), output.row_stride,
                      panel.count(), panel.output_check});
}

template <typename T>
void PanelWorker<T>::write_log_sum_exp(const Panel<T>& panel) {
  if (!plan_.wanted.lse) return;
  for (Index lane = 0; lane < panel.count(); ++lane)
    *plan_.wanted.lse->template row<T>(panel.block.batch, panel.block.head, panel.block.queries.begin + lane) =
        plan_.log_sum_exp(panel.now.maximum[lane], panel.now.total[lane]);
}

template <typename T>
bool PanelWorker<T>::needs_guard(const Panel<T>& panel) const {
  for (Index lane = 0; lane < panel.count(); ++lane)
    if (output_doubtful(panel, lane) && !doubtful(panel, lane))
      return guard.finds_bad_values(panel.block.batch, panel.block.head, panel.visible);
  return false;
}

template <typename T>
void PanelWorker<T>::redo_doubtful(Panel<T>& panel) {
  for (Index lane = 0; lane < panel.count(); ++lane) {
    const bool whole = doubtful(panel, lane);
    if (!whole && !output_doubtful(panel, lane)) continue;
    const Index query = panel.block.queries.begin + lane;
    careful.compute(panel.block.batch, panel.block.head, query, false);
    careful.write_output(panel.block.batch, panel.block.head, query);
    if (whole) careful.write_log_sum_exp(panel.block.batch, panel.block.head, query);
  }
}

template class PanelWorker<float>;
template class PanelWorker<double>;

}  // namespace v1
}  // namespace attn
