#include "io/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kBlockBytes = 256 << 10;
/// Smaller pieces let a signal in between and keep a partial write short.
constexpr std::size_t kWriteBytes = 1 << 20;

}  // namespace

Descriptor::Descriptor(int number) : number_(number) {
  if (number < 0 || number > STDERR_FILENO) return;
  number_ = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(number);
}

int Descriptor::close() {
  if (number_ < 0) return 0;
  const int result = ::close(std::exchange(number_, -1));
  // After an interruption Linux has closed it all the same.
  return result == 0 || errno == EINTR ? 0 : errno;
}

int open_retrying(const char* path, int flags, unsigned mode) {
  int descriptor = -1;
  do {
    descriptor = ::open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

int write_fully(int descriptor, const void* bytes, std::size_t count) {
  const auto* next = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor, next, std::min(count, kWriteBytes));
    if (written >= 0) {
      next += written;
      count -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd waiting{descriptor, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int sync_descriptor(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS || errno == ENOSYS) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

std::string error_text(int error) { return std::error_code(error, std::generic_category()).message(); }

void fail_output(std::string_view path, int error) {
  const ErrorKind kind = error == ENOMEM ? ErrorKind::memory : ErrorKind::output;
  if (path == "-") fail(kind, "cannot write standard output: ", error_text(error));
  fail(kind, "cannot write '", printable_end(path), "': ", error_text(error));
}

BufferedOutput::BufferedOutput(Descriptor descriptor, std::string path)
    : descriptor_(std::move(descriptor)), path_(std::move(path)), block_(new std::byte[kBlockBytes]) {}

void BufferedOutput::write(const void* bytes, std::size_t count) {
  if (count > kBlockBytes - used_) flush();
  if (count >= kBlockBytes) return put(bytes, count);
  if (count == 0) return;
  std::memcpy(block_.get() + used_, bytes, count);
  used_ += count;
}

void BufferedOutput::flush() { put(block_.get(), std::exchange(used_, 0)); }

void BufferedOutput::put(const void* bytes, std::size_t count) {
  if (count == 0 || reader_gone_) return;
  const int error = write_fully(descriptor_.number(), bytes, count);
  if (error == EPIPE)
    reader_gone_ = true;
  else if (error != 0)
    fail_output(path_, error);
}

}  // namespace v1
}  // namespace attn
