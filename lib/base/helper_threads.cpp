#include "base/helper_threads.hpp"

#include <sched.h>
#include <unistd.h>

#include <exception>
#include <thread>

namespace attn {
inline namespace v1 {
namespace {

/// So many looks before a thread sleeps: about the time that waking it would take.
constexpr int kLooks = 4000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

HelperThreads::HelperThreads() : owner_(::getpid()) {}

HelperThreads& HelperThreads::of_process() {
  // Never destroyed: at the end of the process the helpers sleep in it.
  static std::atomic<HelperThreads*> current{nullptr};
  HelperThreads* found = current.load(std::memory_order_acquire);
  if (found != nullptr && found->owner_ == ::getpid()) return *found;
  HelperThreads* const fresh = new HelperThreads;
  if (current.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *found;
}

bool HelperThreads::run(int workers, const std::function<void(int)>& work) {
  if (taken_.exchange(true, std::memory_order_acquire)) return false;
  start_up_to(workers - 1);
  keep_off_the_callers_core();
  work_ = &work;
  workers_ = workers;
  entered_.store(kOpen, std::memory_order_release);
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
  work(0);
  wait_until_all_left();
  taken_.store(false, std::memory_order_release);
  return true;
}

/// Without memory or without a further thread those that there are do the work.
void HelperThreads::start_up_to(int helpers) noexcept {
  try {
    while (static_cast<int>(helpers_.size()) < helpers) {
      helpers_.reserve(helpers_.size() + 1);
      std::thread helper([this, worker = static_cast<int>(helpers_.size()) + 1] { sleep_and_help(worker); });
      helpers_.push_back(helper.native_handle());
      helper.detach();
      avoided_core_ = -1;
    }
  } catch (const std::exception&) {
    return;
  }
}

/// Linux likes to wake a thread on the core of the one who wakes it, which it expects to sleep soon; there it waits for
/// milliseconds. Above all in virtual machines, where a core that was halted counts as taken (vcpu_is_preempted).
void HelperThreads::keep_off_the_callers_core() noexcept {
  const int core = ::sched_getcpu();
  cpu_set_t allowed;
  if (core < 0 || core == avoided_core_ || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (CPU_COUNT(&allowed) < 2) return;
  CPU_CLR(core, &allowed);
  for (const pthread_t helper : helpers_) ::pthread_setaffinity_np(helper, sizeof allowed, &allowed);
  avoided_core_ = core;
}

void HelperThreads::sleep_and_help(int worker) {
  std::uint32_t seen = 0;
  while (true) {
    for (int look = 0; look < kLooks && calls_.load(std::memory_order_relaxed) == seen; ++look) pause_briefly();
    calls_.wait(seen, std::memory_order_acquire);
    seen = calls_.load(std::memory_order_acquire);
    help(worker);
  }
}

void HelperThreads::help(int worker) {
  std::uint32_t entered = entered_.load(std::memory_order_acquire);
  do {
    if ((entered & kOpen) == 0) return;
  } while (!entered_.compare_exchange_weak(entered, entered + 1, std::memory_order_acquire));
  if (worker < workers_) (*work_)(worker);
  if (entered_.fetch_sub(1, std::memory_order_release) == 1) entered_.notify_one();
}

void HelperThreads::wait_until_all_left() {
  std::uint32_t inside = entered_.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
  for (int look = 0; look < kLooks && inside != 0; ++look) {
    pause_briefly();
    inside = entered_.load(std::memory_order_acquire);
  }
  while (inside != 0) {
    entered_.wait(inside, std::memory_order_acquire);
    inside = entered_.load(std::memory_order_acquire);
  }
}

}  // namespace v1
}  // namespace attn
