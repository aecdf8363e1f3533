#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// A file descriptor that is closed when forgotten.
class Descriptor {
 public:
  Descriptor() = default;
  /// Takes over `number`, moved above the standard streams: where one of those was closed at the start, a file must not
  /// take its place and receive what is meant for a person.
  explicit Descriptor(int number);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Closes it; returns the error number, 0 if all went well.
  int close();

 private:
  int number_ = -1;
};

/// Opens a path without inheritance, retrying when interrupted; -1 and errno on failure.
int open_retrying(const char* path, int flags, unsigned mode = 0);

/// Writes all bytes to a descriptor: interrupted and partial writes are continued, a full pipe is waited for.
/// Returns the error number, 0 if all went well.
int write_fully(int descriptor, const void* bytes, std::size_t count);

/// Flushes a file to its disk; file systems that cannot are not an error. Returns the error number.
int sync_descriptor(int descriptor);

/// The text of an error number.
std::string error_text(int error);

/// Throws ErrorKind::output (where memory is short, ErrorKind::memory): "cannot write 'PATH': REASON".
[[noreturn]] void fail_output(std::string_view path, int error);

/// Collects small writes into blocks for a descriptor. Errors name `path`.
class BufferedOutput : public ByteSink {
 public:
  BufferedOutput(Descriptor descriptor, std::string path);

  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override;
  void flush();
  /// The reader of a pipe that went away ends it quietly: later bytes are dropped.
  bool reader_gone() const { return reader_gone_; }
  Descriptor& descriptor() { return descriptor_; }

 private:
  void put(const void* bytes, std::size_t count);

  Descriptor descriptor_;
  std::string path_;
  std::unique_ptr<std::byte[]> block_;
  std::size_t used_ = 0;
  bool reader_gone_ = false;
};

}  // namespace v1
}  // namespace attn
