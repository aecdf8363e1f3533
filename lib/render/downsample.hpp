#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attn/base/memory.hpp"
#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// How the cells of a figure are gathered: each pooled cell holds block_queries × block_keys of them (fewer at the end).
struct PoolPlan {
  Index panels = 1, queries = 1, keys = 1;
  Index block_queries = 1, block_keys = 1;
  bool mean = false;

  Index rows() const { return (queries + block_queries - 1) / block_queries; }
  Index columns() const { return (keys + block_keys - 1) / block_keys; }
  bool pooled() const { return block_queries > 1 || block_keys > 1; }
};

/// The cells of all panels, pooled as their rows come. A pooled cell knows the largest and the least value shown in it
/// (or, pooled by mean, both are the mean). Blocked cells and −∞, the score of a blocked cell, do not count; NaN
/// swallows the cell, so that it is never hidden by its neighbours.
class PooledCells {
 public:
  /// `visibility` may be null; it must outlive the encoding.
  PooledCells(const PoolPlan& plan, const Visibility* visibility, const MemoryBudget& budget);

  /// Pools rows into records, appended to `encoded`. Thread-safe.
  void encode(const RowBlock& rows, std::string& encoded) const;
  /// Merges records; one thread at a time.
  void append(std::string_view encoded);
  /// After the last row: sums become means.
  void finish();

  const PoolPlan& plan() const { return plan_; }
  /// Row `row` of panel `panel`, columns() values: −∞ where nothing is shown.
  const double* high(Index panel, Index row) const { return high_data() + (panel * plan_.rows() + row) * plan_.columns(); }
  /// As high; +∞ where nothing is shown.
  const double* low(Index panel, Index row) const { return low_data() + (panel * plan_.rows() + row) * plan_.columns(); }
  /// Whether no key is allowed in any query of this row.
  bool is_empty_row(Index panel, Index row) const;

 private:
  struct Row {
    Index rows = 0, empty = 0;  // queries that have come, and those without an allowed key
  };
  const double* high_data() const { return reinterpret_cast<const double*>(high_.data()); }
  const double* low_data() const { return low_.size() > 0 ? reinterpret_cast<const double*>(low_.data()) : high_data(); }

  PoolPlan plan_;
  const Visibility* visibility_;
  Buffer high_;  // [panels, rows, columns]; sums when pooled by mean
  Buffer low_;   // the same; counts when pooled by mean; absent when nothing is pooled
  std::vector<Row> rows_;
};

}  // namespace v1
}  // namespace attn
