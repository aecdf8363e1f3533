#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "attn/base/run.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {

/// Standard output, standard error and what the user wants of them: the only place that prints.
class Console {
 public:
  Console();
  /// Of one job among several that share a run: prints nothing and keeps its notes for take_notes().
  Console(const RunContext& run, std::string color);
  ~Console();
  /// Reads --quiet, --verbose, --color, --progress, --threads, --max-memory of the words.
  void configure(const Words& words);

  /// Results, buffered and checked; ErrorKind::output when they cannot be written. A reader that went away ends the
  /// printing quietly.
  void print(std::string_view text);
  /// Returns false when the reader went away.
  bool flush();
  /// At the end of a run that succeeded: clears the progress line, flushes the results, prints the notes.
  void finish();
  /// Clears the progress line, so that an error can be printed.
  void clear_progress();
  /// "attn-cli: note: ..." on standard error, each text once; nothing with -q. Printed after success, at the end.
  void note(std::string_view text);
  /// The notes so far, which are then not printed.
  std::vector<std::string> take_notes();
  /// One whole text to standard output at once, past the buffer. Returns false when the reader went away.
  bool print_now(std::string_view text);
  /// "attn-cli: ..." on standard error at once; nothing with -q.
  void say(std::string_view text);
  /// With -v only.
  void detail(std::string_view text);

  bool verbose() const;
  /// Of standard output: --color, then NO_COLOR, then whether it is a terminal and what it can do.
  TerminalColor color() const;
  /// Of the terminal on standard output (COLUMNS, then the size asked for, then 80).
  int columns() const;
  bool output_is_terminal() const;

  /// Threads, memory limit and the progress line.
  const RunContext& run() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attn::app
