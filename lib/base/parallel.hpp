#pragma once

#include <functional>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// Runs work(task, worker) for every task in [0, tasks); tasks are claimed in rising order by up to `threads` workers
/// (the caller is worker 0), fewer when a thread cannot start. If tasks throw, the exception of the lowest-numbered
/// failing task is rethrown, so that an error does not depend on the number of threads.
void parallel_for(Index tasks, int threads, const std::function<void(Index task, int worker)>& work);

/// The number of CPUs this process may use (its affinity mask), at least 1.
int available_threads();

}  // namespace v1
}  // namespace attn
