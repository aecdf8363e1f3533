#include "io/npz_entry.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <vector>

#include "attn/base/error.hpp"
#include "io/crc32.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Pieces that are still in the cache when their checksum is taken.
constexpr std::size_t kPieceBytes = 64 << 10;

}  // namespace

/// Unpacks the deflate stream of an entry.
class ZipEntrySource::Inflater {
 public:
  Inflater(FileReader& file, const ZipEntry& entry, const std::string& where) : file_(file), entry_(entry), where_(where) {
    // Negative: raw deflate data, without the header of zlib.
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The next bytes, at most `count`; fewer only at the end of the stream.
  std::size_t produce(std::byte* target, std::size_t count) {
    stream_.next_out = reinterpret_cast<Bytef*>(target);
    stream_.avail_out = static_cast<uInt>(count);
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0) refill();
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        fail(ErrorKind::malformed, where_, ": the compressed data is damaged");
      ended_ = result == Z_STREAM_END;
    }
    return count - stream_.avail_out;
  }

  bool all_used() const { return stream_.avail_in == 0 && taken_ == entry_.packed_size; }

 private:
  void refill() {
    const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(packed_.size(), entry_.packed_size - taken_));
    if (more == 0) fail(ErrorKind::malformed, where_, ": the compressed data is cut off");
    file_.read_at(entry_.data_offset + taken_, packed_.data(), more);
    taken_ += more;
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<uInt>(more);
  }

  FileReader& file_;
  const ZipEntry& entry_;
  const std::string& where_;
  z_stream stream_{};
  std::vector<unsigned char> packed_ = std::vector<unsigned char>(kPieceBytes);
  std::uint64_t taken_ = 0;  // packed bytes given to zlib
  bool ended_ = false;
};

ZipEntrySource::ZipEntrySource(FileReader& file, const ZipEntry& entry, std::string where)
    : file_(file), entry_(entry), where_(std::move(where)) {}

ZipEntrySource::~ZipEntrySource() = default;

void ZipEntrySource::restart() {
  position_ = 0;
  crc_ = 0;
  inflater_.reset();
}

void ZipEntrySource::read_at(std::uint64_t offset, void* target, std::size_t count) {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(offset, count, &end) || end > entry_.size)
    fail(ErrorKind::malformed, where_, ": has ", entry_.size, " bytes, expected more");
  if (entry_.method == ZipMethod::stored && verified_) return file_.read_at(entry_.data_offset + offset, target, count);
  if (offset < position_) restart();
  if (offset > position_) {
    std::vector<std::byte> skipped(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, offset - position_)));
    while (offset > position_)
      read_next(skipped.data(), static_cast<std::size_t>(std::min<std::uint64_t>(skipped.size(), offset - position_)));
  }
  read_next(static_cast<std::byte*>(target), count);
  if (position_ == entry_.size) check_end();
}

void ZipEntrySource::read_next(std::byte* target, std::size_t count) {
  while (count > 0) {
    const std::size_t piece = std::min(count, kPieceBytes);
    if (entry_.method == ZipMethod::stored)
      file_.read_at(entry_.data_offset + position_, target, piece);
    else
      inflate_next(target, piece);
    if (!verified_) crc_ = crc32_of(crc_, target, piece);
    position_ += piece;
    file_.report(position_, entry_.size);
    target += piece;
    count -= piece;
  }
}

void ZipEntrySource::inflate_next(std::byte* target, std::size_t count) {
  if (!inflater_) inflater_ = std::make_unique<Inflater>(file_, entry_, where_);
  if (inflater_->produce(target, count) < count)
    fail(ErrorKind::malformed, where_, ": the compressed data ends before the ", entry_.size, " bytes that the archive claims");
}

void ZipEntrySource::check_end() {
  if (verified_) return;
  std::byte extra{};
  if (inflater_ && inflater_->produce(&extra, 1) > 0)
    fail(ErrorKind::malformed, where_, ": holds more data than the ", entry_.size, " bytes that the archive claims");
  if (inflater_ && !inflater_->all_used()) fail(ErrorKind::malformed, where_, ": bytes after the compressed data");
  if (crc_ != entry_.crc) fail(ErrorKind::malformed, where_, ": the checksum (CRC-32) does not match: the data is damaged");
  verified_ = true;
}

}  // namespace v1
}  // namespace attn
