#pragma once

#include <string>
#include <vector>

#include "app/compute_job.hpp"
#include "app/explain_steps.hpp"

namespace attn::app {

/// An array that is shown whole, beside the steps of the heads; it lives in the job or in the steps.
struct ShownArray {
  std::string title;
  const Array* array = nullptr;     ///< [w], [n,w] or [B,n,w]
  std::vector<std::string> labels;  ///< of its rows; empty: by index
};

/// What queries, keys and values are projected from, and with what; nothing without projections.
std::vector<ShownArray> arrays_before(const Prepared& prepared);
/// Merged heads, the output projection and what it gives; nothing for one head without projection.
std::vector<ShownArray> arrays_after(const Prepared& prepared, const AttentionSteps& steps);

/// Such an array as [B,1,n,w].
TensorView rows_of(const Array& array);

}  // namespace attn::app
