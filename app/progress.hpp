#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "attn/base/run.hpp"

namespace attn::app {

enum class ProgressMode { automatic, always, never };

/// One line on standard error that tells how far long work has come: from the second second on and only on a terminal,
/// there rewritten in place; with `always` at once, and on other streams as separate lines.
class ProgressLine : public Progress {
 public:
  explicit ProgressLine(ProgressMode mode);

  void update(std::string_view stage, Index done, Index total) override;
  /// Wipes the line; nothing is drawn after it.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::string_view text);

  const bool shown_;
  const bool terminal_;
  const Clock::time_point start_;
  const Clock::duration interval_;
  std::atomic<Clock::rep> next_;  // when the line is to be drawn again, as ticks since start_
  std::mutex mutex_;
  std::atomic<bool> open_ = false;  // the line that was drawn last tells of a stage that was not at its end
  std::string stage_;               // which one
  bool drawn_ = false;
  bool finished_ = false;
};

}  // namespace attn::app
