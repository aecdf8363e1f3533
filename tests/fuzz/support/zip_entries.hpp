#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::fuzz {

/// An entry of a zip archive, as its directory describes it.
struct PlainZipEntry {
  std::string name;
  unsigned method = 0;
  std::size_t crc_at = 0;     ///< where the directory has the checksum
  std::size_t header_at = 0;  ///< of the local header
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  std::string_view packed;
};

/// The entries of a whole archive, found by a walk that shares no code with the library and refuses less: no checks of
/// overlaps, names or checksums. Nothing where even this cannot make sense of the bytes.
class PlainZip {
 public:
  static std::optional<std::vector<PlainZipEntry>> entries(std::string_view bytes) {
    // The last end record whose comment reaches exactly to the end of the file.
    std::size_t end = bytes.rfind("PK\5\6");
    while (end != std::string_view::npos && end + 22 + number(bytes, end + 20, 2) != bytes.size())
      end = end == 0 ? std::string_view::npos : bytes.rfind("PK\5\6", end - 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::uint64_t at = number(bytes, end + 16, 4), count = number(bytes, end + 10, 2);
    if ((at == 0xffffffff || count == 0xffff) && end >= 76 && bytes.substr(end - 20, 4) == std::string_view("PK\6\7", 4)) {
      const std::uint64_t place = number(bytes, end - 12, 8);
      if (place > end - 76) return std::nullopt;
      count = number(bytes, place + 32, 8);
      at = number(bytes, place + 48, 8);
    }
    std::vector<PlainZipEntry> found;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (at > bytes.size() || bytes.size() - at < 46) return std::nullopt;
      const auto entry = entry_at(bytes, at);
      if (!entry) return std::nullopt;
      found.push_back(*entry);
      at += 46 + number(bytes, at + 28, 2) + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    }
    return found;
  }

  /// What an entry holds, if it unpacks to exactly its size; not more than 16 MiB.
  static std::optional<std::string> content(const PlainZipEntry& entry) {
    if (entry.method == 0) return std::string(entry.packed);
    if (entry.size > (16u << 20)) return std::nullopt;
    std::string out(static_cast<std::size_t>(entry.size), '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.packed.data()));
    stream.avail_in = static_cast<uInt>(entry.packed.size());
    Bytef beyond = 0;
    stream.next_out = out.empty() ? &beyond : reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream, Z_FINISH);
    const bool whole = result == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd(&stream);
    return whole ? std::optional(out) : std::nullopt;
  }

  static std::uint32_t checksum(std::string_view text) {
    return static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
  }

 private:
  static std::uint64_t number(std::string_view bytes, std::uint64_t at, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = count; i-- > 0;) {
      const std::size_t place = static_cast<std::size_t>(at) + i;
      value = value << 8 | (place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0u);
    }
    return value;
  }

  static std::optional<PlainZipEntry> entry_at(std::string_view bytes, std::uint64_t at) {
    PlainZipEntry entry;
    entry.method = static_cast<unsigned>(number(bytes, at + 10, 2));
    entry.crc_at = static_cast<std::size_t>(at) + 16;
    entry.crc = static_cast<std::uint32_t>(number(bytes, at + 16, 4));
    std::uint64_t packed = number(bytes, at + 20, 4), header = number(bytes, at + 42, 4);
    entry.size = number(bytes, at + 24, 4);
    const std::size_t name = static_cast<std::size_t>(number(bytes, at + 28, 2)),
                      extra = static_cast<std::size_t>(number(bytes, at + 30, 2));
    if (bytes.size() - at - 46 < name + extra) return std::nullopt;
    entry.name = bytes.substr(static_cast<std::size_t>(at) + 46, name);
    for (std::size_t from = static_cast<std::size_t>(at) + 46 + name, end = from + extra; from + 4 <= end;) {
      std::uint64_t field = from + 4;
      if (number(bytes, from, 2) == 1) {
        for (std::uint64_t* value : {&entry.size, &packed, &header})
          if (*value == 0xffffffff) *value = number(bytes, field, 8), field += 8;
        break;
      }
      from += 4 + static_cast<std::size_t>(number(bytes, from + 2, 2));
    }
    if (header > bytes.size() || bytes.size() - header < 30) return std::nullopt;
    entry.header_at = static_cast<std::size_t>(header);
    const std::uint64_t data = header + 30 + number(bytes, header + 26, 2) + number(bytes, header + 28, 2);
    if (data > bytes.size() || packed > bytes.size() - data) return std::nullopt;
    entry.packed = bytes.substr(static_cast<std::size_t>(data), static_cast<std::size_t>(packed));
    return entry;
  }
};

}  // namespace attn::fuzz
