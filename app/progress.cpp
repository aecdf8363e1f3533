#include "app/progress.hpp"

#include <unistd.h>

#include <cstdlib>

#include "attn/base/error.hpp"
#include "attn/io/output_file.hpp"

namespace attn::app {
namespace {

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && !(term && std::string_view(term) == "dumb");
}

std::string progress_text(std::string_view stage, Index done, Index total, long long seconds) {
  std::string text = concat("attn-cli: ", stage);
  if (total > 0) {
    // Through double: done * 100 could overflow, and a percentage needs no more.
    const double share = 100.0 * static_cast<double>(done) / static_cast<double>(total);
    text += concat(" ", static_cast<int>(share < 0 ? 0 : share > 100 ? 100 : share), " %");
  } else if (done > 0) {
    text += concat(" ", done);
  }
  if (seconds > 0) text += concat(", ", seconds, " s");
  return text;
}

}  // namespace

ProgressLine::ProgressLine(ProgressMode mode)
    : shown_(mode == ProgressMode::always || (mode == ProgressMode::automatic && stderr_is_terminal())),
      terminal_(stderr_is_terminal()),
      start_(Clock::now()),
      interval_(terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000)),
      next_(mode == ProgressMode::always ? 0 : Clock::duration(std::chrono::seconds(1)).count()) {}

void ProgressLine::update(std::string_view stage, Index done, Index total) {
  if (!shown_) return;
  const Clock::duration passed = Clock::now() - start_;
  // The end of a stage that a line told of is told too: "56 %" would look like work that was given up.
  const bool ends = total > 0 && done >= total && open_.load(std::memory_order_relaxed);
  if (!ends && passed.count() < next_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || finished_) return;  // another worker is drawing
  if (ends && stage != stage_) return;
  next_.store((passed + interval_).count(), std::memory_order_relaxed);
  stage_ = stage;
  open_.store(total > 0 && done < total, std::memory_order_relaxed);
  draw(progress_text(stage, done, total, std::chrono::duration_cast<std::chrono::seconds>(passed).count()));
}

void ProgressLine::draw(std::string_view text) {
  try {
    write_stream(STDERR_FILENO, terminal_ ? concat("\r", text, "\x1b[K") : concat(text, "\n"));
    drawn_ = true;
  } catch (const Error&) {
    finished_ = true;  // nobody can read it; the work itself goes on
  }
}

void ProgressLine::finish() {
  const std::lock_guard lock(mutex_);
  if (drawn_ && terminal_ && !finished_) draw("");
  finished_ = true;
}

}  // namespace attn::app
