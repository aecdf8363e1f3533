#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attn/base/run.hpp"
#include "io/file_reader.hpp"

namespace attn {
inline namespace v1 {

/// A single cell of delimited text or number of JSON longer than this is refused with ErrorKind::memory.
inline constexpr std::size_t kLongestToken = std::size_t{1} << 20;

/// The bytes of a text file in pieces, front to back: [next, end) is there to be used, `next` is moved by the user.
/// The file is never held whole; a stream can be read only once.
class TextWindow {
 public:
  TextWindow(FileReader& file, const RunContext& run);

  const char* next = nullptr;
  const char* end = nullptr;

  /// Brings more bytes behind [next, end), which may move in memory. False at the end of the file.
  bool fill();
  /// Makes at least `count` bytes available if the file has them; returns whether it does.
  bool ensure(std::size_t count) {
    while (static_cast<std::size_t>(end - next) < count)
      if (!fill()) return false;
    return true;
  }
  /// Place of `next` in the file.
  std::uint64_t offset() const { return end_offset_ - static_cast<std::uint64_t>(end - next); }
  const std::string& name() const { return file_.name(); }

 private:
  FileReader& file_;
  const RunContext& run_;
  Buffer piece_;
  std::uint64_t end_offset_ = 0;  // place of `end` in the file
};

/// Throws `malformed` for UTF-16 and UTF-32 text, and for an empty file; steps over a UTF-8 byte order mark.
void skip_byte_order_mark(TextWindow& window);

}  // namespace v1
}  // namespace attn
