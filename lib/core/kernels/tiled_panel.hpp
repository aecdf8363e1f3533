#pragma once

#include <algorithm>

#include "core/kernels/tiled_careful.hpp"
#include "core/kernels/tiled_guard.hpp"
#include "core/kernels/tiled_mask.hpp"
#include "core/kernels/tiled_plan.hpp"
#include "core/kernels/tiled_sums.hpp"

namespace attn {
inline namespace v1 {

/// A panel of queries of one head and what has been computed of it so far.
template <typename T>
struct Panel {
  QueryBlock block;
  Index lanes = 0;
  Range visible;           // keys that some of the queries may see, begin rounded down to kKeyStep
  T* query;                // [d][lanes]
  RunningSums<T> now;      // of the current stretch of keys; in the end of all keys and the sink
  RunningSums<T> earlier;  // of the stretches before, if there are any
  bool has_earlier = false;
  T* check;         // [lanes], NaN once a score is not finite
  T* output_check;  // [lanes], NaN once an output is not finite
  T* query_peak;    // [lanes]

  Index count() const { return block.queries.end - block.queries.begin; }
  /// The visible keys of the block that begins at `at`.
  Range keys_of_block(Index at) const { return {std::max(visible.begin, at), std::min(visible.end, at + kKeyBlock)}; }
};

/// The steps for one panel; owns what a worker needs besides the panels. Rows that a tile cannot do right — something is
/// not finite, or beyond the range in which digits are kept — are done again by the definition, in double.
template <typename T>
class PanelWorker {
 public:
  PanelWorker(const TiledPlan<T>& plan, Carver& carver);

  static Panel<T> carve_panel(const TiledPlan<T>& plan, Carver& carver);
  /// Nothing is computed yet.
  void start(Panel<T>& panel, const QueryBlock& block, Index lanes);

  /// keys · queries -> scores [keys][lanes]; with the bias of the segment and the cap.
  void score(Panel<T>& panel, const KeySegment<T>& segment, T* scores);
  /// The same without cap, bias and block: `check` is that of all keys.
  void score_plainly(Panel<T>& panel, Range keys, T* scores, T* check);
  /// Cap, if `cap`, and bias of scores that have neither.
  void settle(Panel<T>& panel, const KeySegment<T>& segment, bool cap, T* scores, T* check);
  /// The maxima of what score() and settle() have seen since.
  void forget_highest();
  /// For powers relative to the maximum of all keys: the sink must count then too, or weights far below it lose digits.
  void include_sink(const Panel<T>& panel);
  /// Scores to powers, with the running maximum and total.
  void raise(Panel<T>& panel, Index key_count, T* scores);
  /// Powers times values; with `guarded`, as if values that are not finite were 0 (lanes that may see one are marked).
  void add_values(Panel<T>& panel, Range keys, std::span<const KeySegment<T>> segments, const T* powers, bool guarded);
  /// The sums begin anew; what is known of the scores stays.
  void forget_sums(Panel<T>& panel);
  /// Whether a stretch of keys ends before the block that begins at `at`.
  bool begins_stretch(const Panel<T>& panel, Index at) const { return at % plan_.stretch == 0 && at > panel.visible.begin; }
  /// Closes a stretch of keys.
  static void fold(const TiledPlan<T>& plan, Panel<T>& panel);
  /// Brings together all stretches and the sink.
  void conclude(Panel<T>& panel);

  /// 1 / total of each lane, 0 for a row that saw nothing.
  const T* factors(const Panel<T>& panel);
  void unpack_output(Panel<T>& panel);
  void write_log_sum_exp(const Panel<T>& panel);
  /// Whether some outputs are not finite for no other reason than that values are not: to be summed again, guarded.
  bool needs_guard(const Panel<T>& panel) const;
  /// Whether a row must be done again by the definition, or only its output.
  bool doubtful(const Panel<T>& panel, Index lane) const;
  bool output_doubtful(const Panel<T>& panel, Index lane) const { return panel.output_check[lane] != 0; }
  /// Does again what must be done again of output and log-sum-exp.
  void redo_doubtful(Panel<T>& panel);

  PanelMask<T> mask;
  CarefulRows<T> careful;
  ValueGuard<T> guard;

 private:
  void mark_bad_values(Panel<T>& panel, const KeySegment<T>& segment);

  const TiledPlan<T>& plan_;
  T* highest_;
  T* rescale_;
  T* factor_;
  T* unused_;
};

}  // namespace v1
}  // namespace attn
