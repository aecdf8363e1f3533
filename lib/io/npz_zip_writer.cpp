#include "io/npz_zip_writer.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/crc32.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::uint32_t kFull32 = 0xffffffff;
constexpr std::uint64_t kFull16 = 0xffff;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kVersionZip64 = 45;
/// Bit 3: checksum and sizes follow the data. Bit 11: the name is UTF-8.
constexpr std::uint16_t kFlags = 1 << 3;
constexpr std::uint16_t kUtf8Flag = 1 << 11;
constexpr std::uint16_t kFirstDate = 1 << 5 | 1;  // 1980-01-01

/// Builds one record of little-endian fields.
class Record {
 public:
  Record& u16(std::uint64_t value) { return number(value, 2); }
  Record& u32(std::uint64_t value) { return number(value, 4); }
  Record& u64(std::uint64_t value) { return number(value, 8); }
  /// A field that says "see the zip64 record" when its value does not fit.
  Record& short32(std::uint64_t value) { return u32(std::min<std::uint64_t>(value, kFull32)); }
  Record& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& number(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i, value >>= 8) bytes_ += static_cast<char>(value & 0xff);
    return *this;
  }
  std::string bytes_;
};

std::uint16_t flags_of(std::string_view name) { return is_utf8(name) ? kFlags | kUtf8Flag : kFlags; }

}  // namespace

ByteSink& ZipWriter::begin(std::string_view name, std::uint64_t size) {
  const bool zip64 = size >= kFull32;
  Record extra;
  // With the checksum behind the data, the sizes are there as well and zero here (APPNOTE 4.4.4, bit 3).
  if (zip64) extra.u16(1).u16(16).u64(0).u64(0);
  const std::uint32_t later = zip64 ? kFull32 : 0;
  Record header;
  header.u32(0x04034b50).u16(zip64 ? kVersionZip64 : kVersion).u16(flags_of(name)).u16(0).u16(0).u16(kFirstDate).u32(0);
  header.u32(later).u32(later).u16(name.size()).u16(extra.bytes().size()).text(name).text(extra.bytes());
  entries_.push_back({std::string(name), size, position_, 0});
  left_ = size;
  put(header.bytes());
  return *this;
}

void ZipWriter::write(const void* bytes, std::size_t count) {
  if (count > left_) fail(ErrorKind::internal, "more was written to an archive entry than was said");
  Entry& entry = entries_.back();
  entry.crc = crc32_of(entry.crc, bytes, count);
  bytes_.write(bytes, count);
  left_ -= count;
  position_ += count;
}

void ZipWriter::end() {
  const Entry& entry = entries_.back();
  if (left_ != 0) fail(ErrorKind::internal, "less was written to an archive entry than was said");
  Record descriptor;
  descriptor.u32(0x08074b50).u32(entry.crc);
  if (entry.size >= kFull32)
    descriptor.u64(entry.size).u64(entry.size);
  else
    descriptor.u32(entry.size).u32(entry.size);
  put(descriptor.bytes());
}

void ZipWriter::finish() {
  const std::uint64_t begin = position_;
  for (const Entry& entry : entries_) {
    Record extra;
    if (entry.size >= kFull32) extra.u64(entry.size).u64(entry.size);
    if (entry.offset >= kFull32) extra.u64(entry.offset);
    const std::size_t extra_size = extra.bytes().empty() ? 0 : 4 + extra.bytes().size();
    const std::uint16_t version = extra_size > 0 ? kVersionZip64 : kVersion;
    Record header;
    header.u32(0x02014b50).u16(version).u16(version).u16(flags_of(entry.name)).u16(0).u16(0).u16(kFirstDate).u32(entry.crc);
    header.short32(entry.size).short32(entry.size).u16(entry.name.size()).u16(extra_size).u16(0).u16(0).u16(0).u32(0);
    header.short32(entry.offset).text(entry.name);
    if (extra_size > 0) header.u16(1).u16(extra.bytes().size()).text(extra.bytes());
    put(header.bytes());
  }
  const std::uint64_t size = position_ - begin;
  const std::uint64_t count = entries_.size();
  Record tail;
  if (begin >= kFull32 || size >= kFull32 || count >= kFull16) {
    tail.u32(0x06064b50).u64(44).u16(kVersionZip64).u16(kVersionZip64).u32(0).u32(0).u64(count).u64(count).u64(size).u64(begin);
    tail.u32(0x07064b50).u32(0).u64(position_).u32(1);
  }
  const std::uint64_t short_count = std::min(count, kFull16);
  tail.u32(0x06054b50).u16(0).u16(0).u16(short_count).u16(short_count).short32(size).short32(begin).u16(0);
  put(tail.bytes());
}

void ZipWriter::put(std::string_view record) {
  bytes_.write(record.data(), record.size());
  position_ += record.size();
}

}  // namespace v1
}  // namespace attn
