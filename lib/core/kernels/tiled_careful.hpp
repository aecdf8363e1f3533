#pragma once

#include <memory>

#include "core/kernels/reference_row.hpp"
#include "core/kernels/tiled_plan.hpp"

namespace attn {
inline namespace v1 {

/// Rows by the definition, in double: for what a tile cannot do right. One per worker; costs nothing until it is needed.
template <typename T>
class CarefulRows {
 public:
  explicit CarefulRows(const TiledPlan<T>& plan) : plan_(plan) {}

  const ReferenceRow<T>& compute(Index batch, Index head, Index query, bool show_blocked) {
    if (!row_) {
      // What is amiss may come from an input that must not be there.
      if (plan_.job.refuse_nonfinite) plan_.job.refuse_nonfinite();
      plan_.run.budget.require(ReferenceRow<T>::bytes(plan_.job.sizes), "a row in double precision");
      row_ = std::make_unique<ReferenceRow<T>>(plan_.job);
    }
    row_->compute_weights(batch, head, query, show_blocked);
    return *row_;
  }

  /// Of the row computed last, where it is wanted.
  void write_output(Index batch, Index head, Index query);
  void write_log_sum_exp(Index batch, Index head, Index query);

 private:
  const TiledPlan<T>& plan_;
  std::unique_ptr<ReferenceRow<T>> row_;
};

}  // namespace v1
}  // namespace attn
