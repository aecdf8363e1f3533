#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace attn {
inline namespace v1 {

/// Threads that are started once and sleep between calls: waking one takes a fraction of the time that starting one does,
/// which is what small problems are made of. They end with the process.
class HelperThreads {
 public:
  /// Those of this process; a child made by fork has none and gets its own.
  static HelperThreads& of_process();

  /// Runs work(0) here and work(1) .. work(workers - 1) on helpers that wake up in time, then returns; work must not throw.
  /// False, and nothing is run, while another call has the helpers: such a caller needs threads of its own.
  bool run(int workers, const std::function<void(int worker)>& work);

 private:
  HelperThreads();
  void start_up_to(int helpers) noexcept;
  void keep_off_the_callers_core() noexcept;
  void sleep_and_help(int worker);
  void help(int worker);
  void wait_until_all_left();

  const int owner_;  // the process
  // While a call runs, kOpen and the number of helpers that have entered it. Who is late finds it closed and sleeps on.
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> entered_{0};
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> taken_{false};
  // Written before a call opens, read by those who entered it.
  const std::function<void(int)>* work_ = nullptr;
  int workers_ = 0;
  // Of the callers only, who have `taken_`.
  std::vector<pthread_t> helpers_;
  int avoided_core_ = -1;
};

}  // namespace v1
}  // namespace attn
