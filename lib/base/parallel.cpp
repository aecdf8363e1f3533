#include "base/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/helper_threads.hpp"
#include "base/row_delivery.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();

/// The tasks of one call and the first failure among them.
class TaskPool {
 public:
  TaskPool(Index tasks, const std::function<void(Index, int)>& work) : tasks_(tasks), work_(work) {}

  /// Takes tasks until there are none, or one failed: tasks are claimed in rising order, so all below it have begun
  /// and will report their own failure.
  void run(int worker) noexcept {
    while (!failed_.load(std::memory_order_relaxed)) {
      const Index task = next_.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks_) return;
      try {
        work_(task, worker);
      } catch (const DeliveryCancelled&) {
        record(task, false);
      } catch (...) {
        record(task, true);
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// A task that only gave up because of another's failure never hides that failure.
  void record(Index task, bool own_failure) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool first = error_ == nullptr || (own_failure && !own_failure_) || (own_failure == own_failure_ && task < task_);
    if (first) {
      task_ = task;
      own_failure_ = own_failure;
      error_ = std::current_exception();
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const Index tasks_;
  const std::function<void(Index, int)>& work_;
  std::atomic<Index> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  Index task_ = kNone;
  bool own_failure_ = false;
};

/// For calls from several threads at once, or from within another call.
void run_on_own_threads(int workers, const std::function<void(int)>& run) {
  std::vector<std::thread> helpers;
  try {
    for (int worker = 1; worker < workers; ++worker) helpers.emplace_back([&run, worker] { run(worker); });
  } catch (const std::exception&) {
    // No further thread or no memory for one: those that run, or the caller alone, do the work.
  }
  run(0);
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

void parallel_for(Index tasks, int threads, const std::function<void(Index task, int worker)>& work) {
  TaskPool pool(tasks, work);
  const int workers = static_cast<int>(std::clamp<Index>(tasks, 1, threads));
  const auto run = [&pool](int worker) { pool.run(worker); };
  if (workers == 1)
    run(0);
  else if (!HelperThreads::of_process().run(workers, run))
    run_on_own_threads(workers, run);
  pool.rethrow();
}

int available_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) return CPU_COUNT(&allowed);
  const unsigned counted = std::thread::hardware_concurrency();
  return counted > 0 ? static_cast<int>(counted) : 1;
}

}  // namespace v1
}  // namespace attn
