#include "core/kernels/tiled_panel.hpp"

#include <cmath>
#include <limits>

#include "core/precision.hpp"

namespace attn {
namespace {

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
/// Maxima beyond this are near the end of the precision, where a bias may have become an infinity by its unit.
template <typename T>
constexpr T kDeep = std::numeric_limits<T>::max() / 64;

}  // namespace

template <typename T>
PanelWorker<T>::PanelWorker(const TiledPlan<T>& plan, Carver& carver) : mask(plan, carver), plan_(plan) {
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
  panel.sums = carver.take<T>(plan.sums_values() ? plan.job.sizes.value_size * lanes : 0);
  panel.maximum = carver.take<T>(lanes);
  panel.total = carver.take<T>(lanes);
  panel.check = carver.take<T>(lanes);
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
  // A sink is one more key, seen before all others, whose value is 0.
  const T sink = plan_.sink(block.head);
  const bool has_sink = sink != -kInfinity<T>;
  std::fill_n(panel.maximum, lanes, sink);
  std::fill_n(panel.total, lanes, has_sink ? std::ldexp(T(1), tile::kPowerShift<T>) : T(0));
  std::fill_n(panel.check, lanes, has_sink ? sink - sink : T(0));
  if (plan_.sums_values()) std::fill_n(panel.sums, plan_.job.sizes.value_size * lanes, T(0));
}

template <typename T>
void PanelWorker<T>::forget_highest() {
  std::fill_n(highest_, plan_.width() * tile::kMaxVectors, -kInfinity<T>);
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
  plan_.steps.powers({scores, key_count, panel.lanes, highest_, panel.maximum, panel.total, rescale_, plan_.power_unit});
}

template <typename T>
void PanelWorker<T>::add_values(Panel<T>& panel, Range keys, const T* powers) {
  if (!plan_.sums_values()) return;
  const TensorView& value = plan_.job.value;
  const T* values = value.template row<T>(panel.block.batch, plan_.job.kv_head(panel.block.head), keys.begin);
  plan_.steps.sums(
      {powers, keys.end - keys.begin, panel.lanes, values, value.row_stride, plan_.job.sizes.value_size, panel.sums, rescale_});
}

template <typename T>
const T* PanelWorker<T>::factors(const Panel<T>& panel) {
  for (Index lane = 0; lane < panel.lanes; ++lane) factor_[lane] = panel.total[lane] > 0 ? 1 / panel.total[lane] : T(0);
  return factor_;
}

template <typename T>
bool PanelWorker<T>::doubtful(const Panel<T>& panel, Index lane) const {
  if (plan_.all_careful || panel.check[lane] != 0 || plan_.loses_digits(panel.query_peak[lane])) return true;
  if (std::abs(panel.maximum[lane]) < kDeep<T> && plan_.job.empty_rows == EmptyRows::zero) return false;
  const bool empty = plan_.job.masks->row_is_empty(panel.block.batch, panel.block.head, panel.block.queries.begin + lane);
  return empty ? plan_.job.empty_rows != EmptyRows::zero : !(std::abs(panel.maximum[lane]) < kDeep<T>);
}

template <typename T>
void PanelWorker<T>::unpack_output(Panel<T>& panel) {
  if (!plan_.sums_values()) return;
  const MutableTensorView& output = *plan_.wanted.output;
  plan_.steps.unpack({panel.sums, plan_.job.sizes.value_size, panel.lanes, factors(panel),
                      output.template row<T>(panel.block.batch, panel.block.head, panel.block.queries.begin), output.row_stride,
                      panel.count(), panel.check});
}

template <typename T>
void PanelWorker<T>::write_log_sum_exp(const Panel<T>& panel) {
  if (!plan_.wanted.lse) return;
  for (Index lane = 0; lane < panel.count(); ++lane)
    *plan_.wanted.lse->template row<T>(panel.block.batch, panel.block.head, panel.block.queries.begin + lane) =
        plan_.log_sum_exp(panel.maximum[lane], panel.total[lane]);
}

template <typename T>
void PanelWorker<T>::finish(Panel<T>& panel) {
  unpack_output(panel);
  write_log_sum_exp(panel);
  for (Index lane = 0; lane < panel.count(); ++lane)
    if (doubtful(panel, lane)) {
      redo(panel.block, lane, false);
      write_redone(panel.block, lane);
    }
}

template <typename T>
const ReferenceRow<T>& PanelWorker<T>::redo(const QueryBlock& block, Index lane, bool show_blocked) {
  if (!careful_) {
    plan_.run.budget.require(ReferenceRow<T>::bytes(plan_.job.sizes), "a row in double precision");
    careful_ = std::make_unique<ReferenceRow<T>>(plan_.job);
  }
  careful_->compute_weights(block.batch, block.head, block.queries.begin + lane, show_blocked);
  return *careful_;
}

template <typename T>
void PanelWorker<T>::write_redone(const QueryBlock& block, Index lane) {
  const Index query = block.queries.begin + lane;
  if (plan_.sums_values()) careful_->compute_output(plan_.wanted.output->template row<T>(block.batch, block.head, query));
  if (plan_.wanted.lse)
    *plan_.wanted.lse->template row<T>(block.batch, block.head, query) = saturate_to<T>(careful_->log_sum_exp());
}

template class PanelWorker<float>;
template class PanelWorker<double>;

}  // namespace attn
