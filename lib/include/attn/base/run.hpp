#pragma once

#include <string_view>

#include "attn/base/array.hpp"
#include "attn/base/memory.hpp"

namespace attn {
inline namespace v1 {

/// Told how far long work has come. Thread-safe; called often, so implementations must return quickly.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `stage` is "reading", "computing" or "writing"; `total` 0 when it is not known.
  virtual void update(std::string_view stage, Index done, Index total) = 0;
};

/// What every long-running call needs from its surroundings.
struct RunContext {
  int threads = 1;               ///< at least 1; the results have the same bytes for every number
  MemoryBudget budget;           ///< of all arrays of the run
  Progress* progress = nullptr;  ///< may be null
};

}  // namespace v1
}  // namespace attn
