#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// All outputs of one run. Each is written to a temporary name beside its target (devices and FIFOs in place, "-" to a
/// spool); `commit` makes every file complete first (fsync), copies the spool of "-" to standard output, then renames.
/// Destroyed without commit, it removes its temporaries and leaves the old files as they were. Signals (INT, TERM, HUP)
/// do the same once install_signal_cleanup() was called.
class OutputFiles {
 public:
  explicit OutputFiles(bool no_clobber);
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Opens one more output. Throws `usage` for a path given twice (links and ./ resolved) or a second "-", and
  /// ErrorKind::output when it cannot be opened. The sink lives as long as this object.
  ByteSink& open(const std::string& path);
  /// Returns false when the reader of "-" went away: then nothing was replaced.
  bool commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An unlinked temporary file: bytes go in, then come out from the start.
class Spool : public ByteSink {
 public:
  Spool();
  ~Spool() override;
  void write(const void* bytes, std::size_t count) override;
  std::uint64_t size() const;
  void copy_to(ByteSink& target);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes registered temporaries on SIGINT, SIGTERM, SIGHUP, SIGABRT and SIGTRAP, then ends by that signal; ignores SIGPIPE and SIGXFSZ
/// (writes then report them as errors).
void install_signal_cleanup();
/// Removes the temporaries of all outputs, for a run that is about to end without unwinding. Safe in a signal handler.
void remove_temporaries() noexcept;

/// Writes text to a standard stream with errors checked; false if the reader went away, ErrorKind::output otherwise.
bool write_stream(int descriptor, std::string_view text);

}  // namespace v1
}  // namespace attn
