#include "app/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "app/progress.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/output_file.hpp"
#include "base/parallel.hpp"

namespace attn::app {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::string_view(value) : std::string_view();
}

/// What a terminal can do, by what it says of itself.
TerminalColor terminal_colors() {
  const std::string_view colorterm = environment("COLORTERM");
  const std::string_view term = environment("TERM");
  if (colorterm == "truecolor" || colorterm == "24bit" || term.ends_with("-direct")) return TerminalColor::truecolor;
  if (term.find("256color") != std::string_view::npos) return TerminalColor::palette256;
  return TerminalColor::plain;
}

TerminalColor chosen_color(std::string_view mode, bool terminal) {
  if (mode == "never") return TerminalColor::plain;
  const TerminalColor able = terminal_colors();
  // Asked for, but the terminal (or the pipe) names no ability: 256 colours are what nearly all understand.
  if (mode == "always") return able == TerminalColor::plain ? TerminalColor::palette256 : able;
  return environment("NO_COLOR").empty() && terminal ? able : TerminalColor::plain;
}

ProgressMode progress_mode(const std::string& text, bool quiet) {
  if (text == "always") return ProgressMode::always;
  return text == "never" || quiet ? ProgressMode::never : ProgressMode::automatic;
}

constexpr std::size_t kFlushAt = 1 << 16;
constexpr int kMostThreads = 4096;

}  // namespace

struct Console::Impl {
  bool silent = false;  // of a job: the one who runs it tells what there is to tell
  bool quiet = false;
  bool verbose = false;
  bool reader_gone = false;
  std::string color = "auto";
  std::string buffer;
  std::vector<std::string> notes;
  std::unique_ptr<ProgressLine> progress;
  RunContext run;

  void report(std::string_view text) const {
    try {
      write_stream(STDERR_FILENO, text);
    } catch (const Error&) {
      // Standard error is closed or full: there is nowhere left to say so, and the results do not depend on it.
    }
  }
};

Console::Console() : impl_(std::make_unique<Impl>()) { impl_->run.threads = available_threads(); }
Console::Console(const RunContext& run, std::string color) : impl_(std::make_unique<Impl>()) {
  impl_->silent = true;
  impl_->color = std::move(color);
  impl_->run = run;
}
Console::~Console() = default;

void Console::configure(const Words& words) {
  impl_->quiet = words.has("--quiet");
  impl_->verbose = words.has("--verbose");
  impl_->color = words.value("--color", "auto");
  if (words.has("--threads"))
    impl_->run.threads = static_cast<int>(integer_value("--threads", words.value("--threads"), 1, kMostThreads));
  const auto limit = words.has("--max-memory") ? parse_size(words.value("--max-memory")) : default_memory_limit();
  if (!limit || *limit == 0) fail(ErrorKind::usage, "--max-memory: expected a size above 0, such as 512M or 1.5GiB");
  impl_->run.budget = MemoryBudget(*limit);
  impl_->progress = std::make_unique<ProgressLine>(progress_mode(words.value("--progress", "auto"), impl_->quiet));
  impl_->run.progress = impl_->progress.get();
}

void Console::print(std::string_view text) {
  impl_->buffer += text;
  if (impl_->buffer.size() >= kFlushAt) flush();
}

bool Console::flush() {
  clear_progress();
  if (!impl_->silent && !impl_->reader_gone && !impl_->buffer.empty())
    impl_->reader_gone = !write_stream(STDOUT_FILENO, impl_->buffer);
  impl_->buffer.clear();
  return !impl_->reader_gone;
}

void Console::finish() {
  flush();
  if (impl_->silent || impl_->reader_gone || impl_->quiet) return;
  std::string text;
  for (const std::string& note : impl_->notes) text += concat("attn-cli: note: ", printable(note, 1000), "\n");
  impl_->report(text);
  impl_->notes.clear();
}

void Console::clear_progress() {
  if (impl_->progress) impl_->progress->finish();
}

void Console::note(std::string_view text) {
  auto& notes = impl_->notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.emplace_back(text);
}

std::vector<std::string> Console::take_notes() { return std::exchange(impl_->notes, {}); }

bool Console::print_now(std::string_view text) {
  if (!impl_->reader_gone) impl_->reader_gone = !write_stream(STDOUT_FILENO, text);
  return !impl_->reader_gone;
}

void Console::say(std::string_view text) {
  clear_progress();
  if (!impl_->quiet) impl_->report(concat("attn-cli: ", printable(text, 1000), "\n"));
}

void Console::detail(std::string_view text) {
  if (impl_->verbose) impl_->report(concat("attn-cli: ", printable(text, 1000), "\n"));
}

bool Console::verbose() const { return impl_->verbose; }

TerminalColor Console::color() const { return chosen_color(impl_->color, output_is_terminal()); }

int Console::columns() const {
  constexpr int kLeast = 20, kMost = 10000;
  const auto said = parse_integer(environment("COLUMNS"));
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const Index columns = said && *said > 0 ? *said : known ? size.ws_col : 80;
  return static_cast<int>(std::clamp<Index>(columns, kLeast, kMost));
}

bool Console::output_is_terminal() const { return !impl_->silent && isatty(STDOUT_FILENO) == 1; }

const RunContext& Console::run() const { return impl_->run; }

}  // namespace attn::app
