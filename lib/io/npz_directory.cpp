#include "io/npz_directory.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

// Field names and places follow the PKWARE APPNOTE, sections 4.3.7 to 4.3.16.
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::uint32_t kFull16 = 0xffff;
constexpr std::uint32_t kFull32 = 0xffffffff;
constexpr std::uint16_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13;
constexpr std::uint16_t kZip64Extra = 1;

/// Little-endian fields of a block that is known to be long enough.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }

 private:
  std::uint64_t number(std::size_t at, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_.at(at + i));
    return value;
  }
  std::string_view bytes_;
};

/// Where the directory lies.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

class DirectoryReader {
 public:
  explicit DirectoryReader(FileReader& file) : file_(file), file_size_(file.size()) {}

  std::vector<ZipEntry> read() {
    const Extent extent = find_directory();
    if (extent.size / kCentralBytes < extent.entries) refuse("the directory is too short for its number of entries");
    if (extent.size > std::numeric_limits<std::uint32_t>::max()) refuse("the directory is larger than 4 GiB");
    const std::string directory = bytes(extent.offset, static_cast<std::size_t>(extent.size));
    std::vector<ZipEntry> entries;
    std::string_view rest = directory;
    while (!rest.empty()) entries.push_back(take_entry(rest));
    if (entries.size() != extent.entries)
      refuse(concat("the directory has ", entries.size(), " entries, expected ", extent.entries));
    check_names(entries);
    locate_data(entries, extent.offset);
    return entries;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const { fail(ErrorKind::malformed, file_.name(), ": damaged archive: ", what); }

  std::string bytes(std::uint64_t offset, std::size_t count) const {
    std::string block(count, '\0');
    file_.read_at(offset, block.data(), count);
    return block;
  }

  /// The end record must reach exactly to the end of the file with its comment: what follows an archive is not ours.
  std::uint64_t find_end() const {
    const std::uint64_t tail_size = std::min<std::uint64_t>(file_size_, kEndBytes + kFull16);
    const std::string tail = bytes(file_size_ - tail_size, static_cast<std::size_t>(tail_size));
    for (std::size_t at = tail.size() < kEndBytes ? 0 : tail.size() - kEndBytes + 1; at-- > 0;) {
      const Fields fields(std::string_view(tail).substr(at));
      if (fields.u32(0) == kEnd && at + kEndBytes + fields.u16(20) == tail.size()) return file_size_ - tail_size + at;
    }
    refuse("end of central directory not found");
  }

  Extent find_directory() const {
    std::uint64_t end = find_end();
    const std::string block = bytes(end, kEndBytes);
    const Fields fields(block);
    if ((fields.u16(4) != 0 && fields.u16(4) != kFull16) || (fields.u16(6) != 0 && fields.u16(6) != kFull16))
      refuse("parts of it are in other files");
    Extent extent{fields.u32(16), fields.u32(12), fields.u16(10)};
    if (extent.offset == kFull32 || extent.size == kFull32 || extent.entries == kFull16) read_end64(end, extent);
    // Bytes between the directory and its end record, or in front of the archive, would be a second file in disguise.
    if (extent.offset > end || extent.size != end - extent.offset) refuse("the directory is not where its end says");
    return extent;
  }

  /// The zip64 end record; `end` becomes its place. Without one the fields mean what they say.
  void read_end64(std::uint64_t& end, Extent& extent) const {
    if (end < kLocatorBytes + kEnd64Bytes) return;
    const std::string locator = bytes(end - kLocatorBytes, kLocatorBytes);
    if (Fields(locator).u32(0) != kEnd64Locator) return;
    const std::uint64_t place = Fields(locator).u64(8);
    if (place > end - kLocatorBytes - kEnd64Bytes) refuse("the zip64 end record lies outside");
    const std::string block = bytes(place, kEnd64Bytes);
    const Fields fields(block);
    const std::uint64_t length = end - kLocatorBytes - place - 12;
    if (fields.u32(0) != kEnd64 || fields.u64(4) != length) refuse("the zip64 end record is broken");
    extent = {fields.u64(48), fields.u64(40), fields.u64(32)};
    end = place;
  }

  ZipEntry take_entry(std::string_view& rest) const {
    if (rest.size() < kCentralBytes || Fields(rest).u32(0) != kCentralHeader) refuse("an entry of the directory is broken");
    const Fields fields(rest);
    const std::size_t name_size = fields.u16(28), extra_size = fields.u16(30), comment_size = fields.u16(32);
    if (rest.size() < kCentralBytes + name_size + extra_size + comment_size) refuse("an entry of the directory is cut off");
    ZipEntry entry;
    entry.name = rest.substr(kCentralBytes, name_size);
    entry.crc = fields.u32(16);
    entry.packed_size = fields.u32(20);
    entry.size = fields.u32(24);
    entry.header_offset = fields.u32(42);
    apply_zip64(rest.substr(kCentralBytes + name_size, extra_size), entry);
    if ((fields.u16(8) & kEncrypted) != 0) fail_entry(entry, "encrypted entries are not read");
    const std::uint16_t method = fields.u16(10);
    if (method != 0 && method != 8)
      fail_entry(entry, concat("compression method ", method, " is not supported, expected stored or deflated"));
    entry.method = static_cast<ZipMethod>(method);
    if (method == 0 && entry.size != entry.packed_size) fail_entry(entry, "is stored with two different sizes");
    rest.remove_prefix(kCentralBytes + name_size + extra_size + comment_size);
    return entry;
  }

  /// Sizes that did not fit in 32 bits stand in an extra field, in this order and only those.
  void apply_zip64(std::string_view extra, ZipEntry& entry) const {
    while (extra.size() >= 4) {
      const Fields fields(extra);
      const std::uint16_t tag = fields.u16(0);
      const std::size_t size = fields.u16(2);
      if (extra.size() < 4 + size) refuse("an extra field is cut off");
      std::string_view content = extra.substr(4, size);
      extra.remove_prefix(4 + size);
      if (tag != kZip64Extra) continue;
      for (std::uint64_t* field : {&entry.size, &entry.packed_size, &entry.header_offset}) {
        if (*field != kFull32) continue;
        if (content.size() < 8) refuse("a zip64 field is cut off");
        *field = Fields(content).u64(0);
        content.remove_prefix(8);
      }
      return;
    }
  }

  void check_names(const std::vector<ZipEntry>& entries) const {
    std::unordered_set<std::string_view> names;
    for (const ZipEntry& entry : entries)
      if (!names.insert(entry.name).second) fail_entry(entry, "appears twice");
  }

  /// Finds where each entry's data begins; no two may share a byte, nor reach into the directory.
  void locate_data(std::vector<ZipEntry>& entries, std::uint64_t directory) const {
    std::vector<ZipEntry*> order;
    for (ZipEntry& entry : entries) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->header_offset < b->header_offset; });
    std::uint64_t free_from = 0;
    for (ZipEntry* entry : order) {
      if (entry->header_offset < free_from) fail_entry(*entry, "overlaps the entry before it");
      if (entry->header_offset > directory || directory - entry->header_offset < kLocalBytes)
        fail_entry(*entry, "lies outside the archive");
      const std::string block = bytes(entry->header_offset, kLocalBytes);
      const Fields fields(block);
      if (fields.u32(0) != kLocalHeader) fail_entry(*entry, "has no header where the directory says");
      entry->data_offset = entry->header_offset + kLocalBytes + fields.u16(26) + fields.u16(28);
      if (entry->data_offset > directory || directory - entry->data_offset < entry->packed_size)
        fail_entry(*entry, "reaches into the directory");
      free_from = entry->data_offset + entry->packed_size;
    }
  }

  [[noreturn]] void fail_entry(const ZipEntry& entry, std::string_view what) const {
    fail(ErrorKind::malformed, file_.name(), ": entry ", printable(entry.name, 60), ": ", what);
  }

  FileReader& file_;
  std::uint64_t file_size_;
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(FileReader& file) { return DirectoryReader(file).read(); }

}  // namespace v1
}  // namespace attn
