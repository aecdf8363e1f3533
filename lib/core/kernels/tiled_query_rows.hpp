#pragma once

#include <memory>
#include <vector>

#include "core/kernels/tiled_careful.hpp"
#include "core/kernels/tiled_guard.hpp"
#include "core/kernels/tiled_plan.hpp"
#include "core/kernels/tiled_sums.hpp"

namespace attn {
inline namespace v1 {

/// The queries that share one key/value head, as plain rows, and what has been computed of them. One per worker.
template <typename T>
class QueryRows {
 public:
  QueryRows(const TiledPlan<T>& plan, Carver& carver);

  Index count() const { return static_cast<Index>(rows_.size()); }
  /// Begins with the queries of a batch item and key/value head.
  void start(Index batch, Index kv_head);
  /// Does the keys of the range, in order; stretches are folded on the way.
  void advance(Range range, bool guarded);
  /// Writes output and log-sum-exp; what cannot be right is done again.
  void finish();

  /// Sums of the current stretch, row by row, and NaN or 0 for scores that are not finite.
  const RunningSums<T>& sums(Index row) const { return rows_[static_cast<std::size_t>(row)].now; }
  T& check(Index row) { return rows_[static_cast<std::size_t>(row)].check; }
  void fold();

 private:
  struct Row {
    Index head = 0, query = 0;
    Range visible;
    RunningSums<T> now, earlier;  // of one lane
    bool has_earlier = false;
    T check = 0;
    T peak = 0;
    bool output_check = false;
  };

  void start_row(Row& row, T* packed);
  void conclude(Row& row) const;
  void block(Range keys, bool guarded);
  void score(Index first, Index rows, Range keys);
  void settle_row(Row& row, Range keys, T* scores);
  const T* bias_row(const Row& row, Range keys);
  void add_values(Index first, Index rows, Range keys, bool guarded);
  void mark_bad_values(Row& row);
  bool doubtful(const Row& row) const;
  void write_output(Row& row) const;
  bool needs_guard() const;
  void redo(Row& row);

  const TiledPlan<T>& plan_;
  Index batch_ = 0, kv_head_ = 0;
  std::vector<Row> rows_;
  T* queries_;                       // [rows][d], times the factor
  T* scores_;                        // [kMaxRows][kKeyBlock]
  T* bias_;                          // [kKeyBlock]
  T *values_now_, *values_earlier_;  // [rows][v]
  T* lanes_;                         // maxima and totals of the rows
  std::uint8_t* allowed_;            // [kKeyBlock]
  CarefulRows<T> careful_;
  ValueGuard<T> guard_;
};

}  // namespace v1
}  // namespace attn
