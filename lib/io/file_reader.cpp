#include "io/file_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/descriptor.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kFirstStreamBytes = 64 << 10;
/// One system call takes at most 2 GiB; smaller pieces keep signals and progress lively.
constexpr std::size_t kReadBytes = 64 << 20;
/// What is read in no time is not reported.
constexpr std::size_t kReportedBytes = 16 << 20;
/// A device that gives more than this never ends.
constexpr std::size_t kDeviceBytes = 1 << 20;

}  // namespace

FileReader::FileReader(std::string path, const MemoryBudget& budget)
    : path_(std::move(path)), name_(path_ == "-" ? "standard input" : printable_end(path_)), budget_(budget) {}

std::unique_ptr<FileReader> FileReader::open(const std::string& path, const MemoryBudget& budget) {
  std::unique_ptr<FileReader> file(new FileReader(path, budget));
  file->examine();
  return file;
}

FileReader::~FileReader() = default;

void FileReader::examine() {
  number_ = STDIN_FILENO;
  if (path_ != "-") {
    if (path_.empty() || path_.find('\0') != std::string::npos) fail_system("open", ENOENT);
    opened_ = Descriptor(open_retrying(path_.c_str(), O_RDONLY));
    if (!opened_) fail_system("open", errno);
    number_ = opened_.number();
  }
  struct stat status {};
  if (::fstat(number_, &status) != 0) fail_system("open", errno);
  if (path_ == "-" && ::isatty(number_) != 0)
    fail_with_hint(ErrorKind::usage, "send a file to it with < FILE or a pipe, or name the file instead of -",
                   "- is standard input, which is a terminal");
  if (S_ISDIR(status.st_mode)) fail(ErrorKind::malformed, "cannot read '", name_, "': it is a folder, expected a file");
  endless_ = S_ISCHR(status.st_mode) && ::isatty(number_) == 0;
  // A file that claims to be empty may be one of /proc, which shows its size only by being read; and redirected input
  // may have been read in part by whoever started us.
  const bool at_start = path_ != "-" || ::lseek(number_, 0, SEEK_CUR) == 0;
  stream_ = !S_ISREG(status.st_mode) || status.st_size == 0 || !at_start;
  if (!stream_) size_ = static_cast<std::uint64_t>(status.st_size);
}

std::uint64_t FileReader::size() {
  if (stream_) fill_to(kUnknownSize);
  return size_;
}

std::span<const std::byte> FileReader::head(std::size_t count) {
  if (stream_) {
    fill_to(count);
    return {content_.data(), std::min(count, filled_)};
  }
  const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(count, size_));
  if (content_.size() < length) content_ = budget_.allocate(length, name_);
  if (filled_ < length) read_at(0, content_.data(), length);
  filled_ = std::max(filled_, length);
  return {content_.data(), length};
}

void FileReader::read_at(std::uint64_t offset, void* target, std::size_t count) {
  if (count == 0) return;
  std::uint64_t end = 0;
  if (__builtin_add_overflow(offset, count, &end)) end = kUnknownSize;
  if (stream_) fill_to(end);
  if (stream_ && end > filled_ && taken_ > 0) fail(ErrorKind::internal, name_, ": a stream was read again");
  const std::uint64_t length = stream_ ? filled_ : size_;
  if (end > length) fail(ErrorKind::malformed, name_, ": the file ends after ", length, " bytes, expected at least ", end);
  if (stream_) {
    std::memcpy(target, content_.data() + offset, count);
    return;
  }
  for (std::size_t done = 0; done < count;) {
    const std::size_t got = read_some(offset + done, static_cast<std::byte*>(target) + done, count - done);
    if (got == 0) fail(ErrorKind::malformed, name_, ": the file changed while it was read: it became shorter");
    done += got;
    report(done, count);
  }
}

std::size_t FileReader::take_some(std::uint64_t offset, void* target, std::size_t count) {
  auto* const next = static_cast<std::byte*>(target);
  const std::uint64_t there = stream_ ? filled_ : size_;
  std::size_t done = offset < there ? static_cast<std::size_t>(std::min<std::uint64_t>(count, there - offset)) : 0;
  if (done > 0) read_at(offset, next, done);
  if (!stream_ || done == count) return done;
  if (offset + done != filled_ + taken_) fail(ErrorKind::internal, name_, ": a stream was read again");
  while (done < count && size_ == kUnknownSize) {
    const std::size_t got = read_some(0, next + done, count - done);
    taken_ += got;
    done += got;
    if (got == 0) size_ = filled_ + taken_;
    refuse_endless();
    report(done, count);
  }
  return done;
}

void FileReader::take(std::uint64_t offset, void* target, std::size_t count) {
  const std::size_t got = take_some(offset, target, count);
  if (got < count)
    fail(ErrorKind::malformed, name_, ": the file ends after ", offset + got, " bytes, expected at least ", offset + count);
}

std::span<const std::byte> FileReader::whole() {
  if (stream_) {
    fill_to(kUnknownSize);
  } else if (filled_ < size_) {
    if (size_ > std::numeric_limits<std::size_t>::max() / 2) fail(ErrorKind::memory, name_, " is too large to hold");
    const std::size_t length = static_cast<std::size_t>(size_);
    content_ = Buffer();
    filled_ = 0;
    content_ = budget_.allocate(length, name_);
    read_at(0, content_.data(), length);
    filled_ = length;
  }
  return held();
}

std::span<const std::byte> FileReader::held() const {
  if (size_ == kUnknownSize || filled_ < size_) return {};
  return {content_.data(), filled_};
}

/// Reads a stream until it holds `end` bytes or has ended.
void FileReader::fill_to(std::uint64_t end) {
  while (filled_ < end && size_ == kUnknownSize) {
    if (taken_ > 0) fail(ErrorKind::internal, name_, ": a stream was read again");
    if (filled_ == content_.size()) grow();
    const std::size_t got = read_some(0, content_.data() + filled_, content_.size() - filled_);
    if (got == 0) size_ = filled_;
    filled_ += got;
    report(filled_, 0);
    refuse_endless();
  }
}

void FileReader::refuse_endless() const {
  if (endless_ && filled_ + taken_ > kDeviceBytes)
    fail(ErrorKind::malformed, "cannot read '", name_, "': it is a device without an end, expected a file");
}

void FileReader::report(std::uint64_t done, std::uint64_t total) const {
  const bool worth_it = std::max(done, total) >= kReportedBytes;
  if (progress_ != nullptr && worth_it) progress_->update("reading", static_cast<Index>(done), static_cast<Index>(total));
}

void FileReader::grow() {
  const std::size_t now = content_.size();
  const std::size_t room = budget_.limit() - std::min(budget_.limit(), budget_.used());
  // Doubling, but the last bytes of the budget are used before a stream is refused.
  const std::size_t more = now == 0 ? kFirstStreamBytes : std::clamp<std::size_t>(room, 1, now);
  budget_.resize(content_, now + more, name_);
}

/// One system call's worth of bytes; 0 at the end.
std::size_t FileReader::read_some(std::uint64_t offset, std::byte* target, std::size_t count) {
  const std::size_t piece = std::min(count, kReadBytes);
  while (true) {
    const ssize_t got = stream_ ? ::read(number_, target, piece) : ::pread(number_, target, piece, static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN) {
      pollfd waiting{number_, POLLIN, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      fail_system("read", errno);
    }
  }
}

void FileReader::fail_system(const char* verb, int error) const {
  fail(ErrorKind::malformed, "cannot ", verb, path_ == "-" ? " " : " '", name_, path_ == "-" ? ": " : "': ", error_text(error));
}

void refuse_lfs_pointer(FileReader& file) {
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
  const auto head = file.head(kPointer.size());
  if (std::string_view(reinterpret_cast<const char*>(head.data()), head.size()) == kPointer)
    fail_with_hint(ErrorKind::malformed, "fetch the data with `git lfs pull`", file.name(),
                   ": this is a Git LFS pointer, not the data itself");
}

}  // namespace v1
}  // namespace attn
