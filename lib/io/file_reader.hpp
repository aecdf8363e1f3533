#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "attn/base/memory.hpp"
#include "attn/base/run.hpp"
#include "io/descriptor.hpp"

namespace attn {
inline namespace v1 {

/// The size of a stream (pipe, FIFO, device) whose end has not been seen yet.
inline constexpr std::uint64_t kUnknownSize = std::numeric_limits<std::uint64_t>::max();

/// An input file, readable at any offset. Regular files are read where asked, without a mapping that a truncation could
/// turn into a signal; pipes, FIFOs, standard input and files of /proc are read into memory within the budget, only as
/// far as needed. All failures are `malformed` errors that name the file. Not thread-safe.
class FileReader {
 public:
  /// Opens `path`; "-" is standard input.
  static std::unique_ptr<FileReader> open(const std::string& path, const MemoryBudget& budget);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// The path as given ("-" for standard input).
  const std::string& path() const { return path_; }
  /// The name for messages: the printable path, or "standard input".
  const std::string& name() const { return name_; }

  /// Reads of many bytes report to `progress` (may be null) from now on.
  void report_to(Progress* progress) { progress_ = progress; }
  /// Tells how far a read has come; `total` 0 if that is not known. Small ones are kept to oneself.
  void report(std::uint64_t done, std::uint64_t total) const;

  /// Size of a regular file; of a stream kUnknownSize until its end was seen.
  std::uint64_t known_size() const { return size_; }
  /// Size in bytes; a stream is read to its end for it.
  std::uint64_t size();
  /// The first bytes, at most `count`, fewer only if the file is shorter; valid until the next call.
  std::span<const std::byte> head(std::size_t count);
  /// Exactly `count` bytes from `offset`. Reading past the end is an error: "ends after .. bytes, expected ..", or
  /// "changed while it was read" if the file was longer before.
  void read_at(std::uint64_t offset, void* target, std::size_t count);
  /// Like read_at, for one pass from front to back: what a stream has still to give is not held, so that nothing of it can
  /// be read again.
  void take(std::uint64_t offset, void* target, std::size_t count);
  /// The same for at most `count` bytes: returns how many, fewer only at the end.
  std::size_t take_some(std::uint64_t offset, void* target, std::size_t count);
  /// The whole content in memory (within the budget); valid as long as this object.
  std::span<const std::byte> whole();
  /// The content of a stream that was read to its end by size() or whole(); empty for a regular file not yet held.
  std::span<const std::byte> held() const;

 private:
  FileReader(std::string path, const MemoryBudget& budget);
  void examine();
  void fill_to(std::uint64_t end);
  void grow();
  void refuse_endless() const;
  std::size_t read_some(std::uint64_t offset, std::byte* target, std::size_t count);
  [[noreturn]] void fail_system(const char* verb, int error) const;

  std::string path_;
  std::string name_;
  MemoryBudget budget_;
  Progress* progress_ = nullptr;
  Descriptor opened_;  // none for standard input
  int number_ = -1;
  bool stream_ = false;   // bytes come once, in order
  bool endless_ = false;  // a character device that is no terminal: /dev/zero
  std::uint64_t size_ = kUnknownSize;
  Buffer content_;           // of a stream, or of a regular file after whole()
  std::size_t filled_ = 0;   // bytes of content_ that are there
  std::uint64_t taken_ = 0;  // bytes of a stream behind those, given away
};

/// Throws `malformed` if the file is not the data but a Git LFS pointer to it.
void refuse_lfs_pointer(FileReader& file);

}  // namespace v1
}  // namespace attn
