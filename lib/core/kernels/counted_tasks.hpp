#pragma once

#include <atomic>
#include <functional>

#include "attn/base/array.hpp"
#include "attn/base/run.hpp"

namespace attn {
inline namespace v1 {

/// Tasks shared by the threads of a run; each that ends counts as progress towards `total`, which may span several calls.
class CountedTasks {
 public:
  CountedTasks(const RunContext& run, Index total) : run_(run), total_(total) {}

  /// As parallel_for, on the threads of the run.
  void run(Index tasks, const std::function<void(Index task, int worker)>& work);

 private:
  const RunContext& run_;
  const Index total_;
  std::atomic<Index> done_{0};
};

}  // namespace v1
}  // namespace attn
