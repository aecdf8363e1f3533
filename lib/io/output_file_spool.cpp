#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/output_file.hpp"
#include "io/descriptor.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kCopyBytes = 256 << 10;
/// What fits in here never becomes a file.
constexpr std::size_t kHeldBytes = 1 << 20;

int open_unlinked(const std::string& folder) {
  const int direct = open_retrying(folder.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (direct >= 0) return direct;
  // File systems and kernels without O_TMPFILE.
  std::string name = folder + "/.attn-XXXXXX";
  const int made = ::mkostemp(name.data(), O_CLOEXEC);
  if (made >= 0) ::unlink(name.c_str());
  return made;
}

/// In $TMPDIR, or where that cannot be, in /tmp or /var/tmp.
Descriptor open_temporary() {
  const char* chosen = std::getenv("TMPDIR");
  int error = 0;
  for (const std::string folder : {chosen != nullptr ? chosen : "", "/tmp", "/var/tmp"}) {
    if (folder.empty()) continue;
    Descriptor file(open_unlinked(folder));
    if (file) return file;
    if (error == 0) error = errno;
  }
  fail(ErrorKind::output, "cannot make a temporary file in '", printable(chosen != nullptr ? chosen : "/tmp"),
       "': ", error_text(error));
}

}  // namespace

struct Spool::Impl {
  std::vector<std::byte> held;  // bytes not in the file: all of them until it exists
  Descriptor file;
  std::uint64_t in_file = 0;

  void flush() {
    if (!file) file = open_temporary();
    const int error = write_fully(file.number(), held.data(), held.size());
    if (error != 0) fail(ErrorKind::output, "cannot write a temporary file: ", error_text(error));
    in_file += held.size();
    held.clear();
  }

  std::size_t read_block(std::uint64_t offset, std::byte* block, std::size_t count) const {
    while (true) {
      const ssize_t got = ::pread(file.number(), block, count, static_cast<off_t>(offset));
      if (got > 0) return static_cast<std::size_t>(got);
      if (got == 0 || errno != EINTR)
        fail(ErrorKind::output, "cannot read a temporary file back: ", error_text(got == 0 ? EIO : errno));
    }
  }
};

Spool::Spool() : impl_(std::make_unique<Impl>()) {}
Spool::~Spool() = default;

void Spool::write(const void* bytes, std::size_t count) {
  const auto* next = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    if (impl_->held.size() == kHeldBytes) impl_->flush();
    const std::size_t piece = std::min(count, kHeldBytes - impl_->held.size());
    impl_->held.insert(impl_->held.end(), next, next + piece);
    next += piece;
    count -= piece;
  }
}

std::uint64_t Spool::size() const { return impl_->in_file + impl_->held.size(); }

void Spool::copy_to(ByteSink& target) {
  std::vector<std::byte> block(impl_->in_file > 0 ? kCopyBytes : 0);
  for (std::uint64_t offset = 0; offset < impl_->in_file;) {
    const auto left = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), impl_->in_file - offset));
    const std::size_t got = impl_->read_block(offset, block.data(), left);
    target.write(block.data(), got);
    offset += got;
  }
  target.write(impl_->held.data(), impl_->held.size());
}

}  // namespace v1
}  // namespace attn
