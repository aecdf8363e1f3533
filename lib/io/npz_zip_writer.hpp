#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// Writes a zip archive of stored entries to a sink that only goes forward: sizes are told beforehand, but stand with
/// the checksums behind the data. zip64 where needed; the time of every entry is 1980-01-01, so that the same numbers give the
/// same bytes.
class ZipWriter : private ByteSink {
 public:
  explicit ZipWriter(ByteSink& bytes) : bytes_(bytes) {}

  /// Begins an entry of exactly `size` bytes; they are written to the sink returned.
  ByteSink& begin(std::string_view name, std::uint64_t size);
  /// Ends the entry. Throws `internal` if it has another size than was said.
  void end();
  /// Writes the central directory.
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
    std::uint32_t crc = 0;
  };

  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override;
  void put(std::string_view record);

  ByteSink& bytes_;
  std::vector<Entry> entries_;
  std::uint64_t position_ = 0;
  std::uint64_t left_ = 0;  // bytes that the open entry still lacks
};

}  // namespace v1
}  // namespace attn
