#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/file_reader.hpp"

namespace attn {
inline namespace v1 {

/// How the bytes of an entry are stored.
enum class ZipMethod : std::uint16_t { stored = 0, deflated = 8 };

/// One entry of a zip archive, as its central directory says.
struct ZipEntry {
  std::string name;  ///< just text: it never becomes a path
  ZipMethod method = ZipMethod::stored;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0;  ///< of the packed bytes
};

/// Reads the central directory of a zip archive (zip64 too), which alone counts; of the local headers only the length is
/// taken. Refused as `malformed`: a damaged or ambiguous directory, bytes after the archive, entries that overlap, one
/// name twice, encryption, other methods than stored and deflated.
std::vector<ZipEntry> read_zip_directory(FileReader& file);

}  // namespace v1
}  // namespace attn
