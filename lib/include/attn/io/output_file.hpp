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
/// Destroyed without commit, it removes its temporaries and leaves the old files as they were. Signals do
/// the same once install_signal_cleanup() was called.
class OutputFiles {
 public:
  /// With `no_clobber`, open() refuses a path that exists.
  explicit OutputFiles(bool no_clobber);
  /// Removes what was not committed.
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Opens one more output. Throws `usage` for a path given twice (links and ./ resolved) or a second "-", and
  /// ErrorKind::output when it cannot be opened. The sink lives as long as this object.
  ByteSink& open(const std::string& path);
  /// Returns false when the reader of "-" went away: then nothing was replaced. Throws ErrorKind::output when a file cannot
  /// be completed or renamed.
  bool commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An unlinked temporary file: bytes go in, then come out from the start.
class Spool : public ByteSink {
 public:
  /// In $TMPDIR or /tmp. Throws ErrorKind::output when it cannot be made.
  Spool();
  /// The bytes are gone.
  ~Spool() override;
  /// Adds bytes at the end. Throws ErrorKind::output when the disk is full.
  void write(const void* bytes, std::size_t count) override;
  /// Bytes so far.
  std::uint64_t size() const;
  /// Writes all of them, from the start, to the target.
  void copy_to(ByteSink& target);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes registered temporaries on every signal that ends or crashes a process and can be caught, then ends by that
/// signal; ignores SIGPIPE and SIGXFSZ (writes then report them as errors).
void install_signal_cleanup();
/// Removes the temporaries of all outputs, for a run that is about to end without unwinding. Safe in a signal handler.
void remove_temporaries() noexcept;

/// Writes text to a standard stream with errors checked; false if the reader went away, ErrorKind::output otherwise.
bool write_stream(int descriptor, std::string_view text);

}  // namespace v1
}  // namespace attn
