#include "attn/io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/descriptor.hpp"
#include "io/output_file_signals.hpp"
#include "io/output_file_target.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr mode_t kModeBits = 07777;

/// The mask can only be read by setting it: two runs at once would each take the other's 0 for it.
mode_t current_umask() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

/// The spool's way to standard output.
class StandardOutput : public ByteSink {
 public:
  struct ReaderGone {};
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override {
    const int error = write_fully(STDOUT_FILENO, bytes, count);
    if (error == EPIPE) throw ReaderGone();
    if (error != 0) fail_output("-", error);
  }
};

/// One output from its opening to its final name.
class Output {
 public:
  Output(OutputTarget target, bool no_clobber) : target_(std::move(target)), no_clobber_(no_clobber) {
    switch (target_.kind) {
      case OutputTarget::Kind::standard_output:
        spool_ = std::make_unique<Spool>();
        break;
      case OutputTarget::Kind::in_place:
        open_in_place();
        break;
      case OutputTarget::Kind::replaced:
        open_beside();
        break;
    }
  }

  const OutputTarget& target() const { return target_; }
  ByteSink& sink() {
    if (spool_) return *spool_;
    return *file_;
  }
  bool reader_gone() const { return file_ && file_->reader_gone(); }

  /// Everything is on the disk under its temporary name, or with the device.
  void complete() {
    if (spool_) return;
    file_->flush();
    if (reader_gone()) return;
    const int number = file_->descriptor().number();
    if (temporary_) set_mode(number);
    if (temporary_) check(sync_descriptor(number));
    check(file_->descriptor().close());
  }

  void copy_spool() {
    StandardOutput standard_output;
    if (spool_) spool_->copy_to(standard_output);
  }

  void rename() {
    if (temporary_) check(temporary_->rename_to(target_.resolved, no_clobber_));
  }

 private:
  void check(int error) const {
    if (error != 0) fail_output(target_.path, error);
  }

  void open_in_place() {
    const int number =
        target_.descriptor >= 0 ? ::fcntl(target_.descriptor, F_DUPFD_CLOEXEC, 0) : open_retrying(target_.path.c_str(), O_WRONLY);
    if (number < 0) fail_output(target_.path, errno);
    file_ = std::make_unique<BufferedOutput>(Descriptor(number), target_.path);
  }

  void open_beside() {
    if (no_clobber_ && target_.exists)
      fail(ErrorKind::output, "'", printable_end(target_.path), "' exists and is not to be replaced");
    mode_ = target_.exists ? target_.status.st_mode & kModeBits : 0666 & ~current_umask();
    int number = -1;
    temporary_.emplace(target_.folder, target_.path, number);
    Descriptor descriptor(number);
    if (!descriptor) fail_output(target_.path, errno);
    file_ = std::make_unique<BufferedOutput>(std::move(descriptor), target_.path);
  }

  /// The mode of the replaced file, or of a new one. The owner is kept too where that is allowed.
  void set_mode(int number) const {
    if (target_.exists && (target_.status.st_uid != ::geteuid() || target_.status.st_gid != ::getegid())) {
      // Only a wish: without the right to give files away, the new file belongs to who wrote it.
      [[maybe_unused]] const int given = ::fchown(number, target_.status.st_uid, target_.status.st_gid);
    }
    while (::fchmod(number, mode_) != 0) {
      if (errno == EPERM || errno == ENOTSUP) return;  // a file system without modes
      if (errno != EINTR) fail_output(target_.path, errno);
    }
  }

  OutputTarget target_;
  bool no_clobber_;
  mode_t mode_ = 0;
  std::optional<TemporaryFile> temporary_;
  std::unique_ptr<BufferedOutput> file_;
  std::unique_ptr<Spool> spool_;
};

}  // namespace

struct OutputFiles::Impl {
  bool no_clobber;
  std::vector<std::unique_ptr<Output>> outputs;

  bool any_reader_gone() const {
    for (const auto& output : outputs)
      if (output->reader_gone()) return true;
    return false;
  }

  /// Makes the new names last through a power cut. A folder that cannot be opened for this is no failure.
  void sync_folders() const {
    std::map<std::string, std::string> folders;  // each once, with the path that stands for it in a message
    for (const auto& output : outputs)
      if (const OutputTarget& target = output->target(); !target.folder.empty()) folders.emplace(target.folder, target.path);
    for (const auto& [folder, path] : folders) {
      const Descriptor descriptor(open_retrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
      const int error = descriptor ? sync_descriptor(descriptor.number()) : 0;
      if (error != 0) fail_output(path, error);
    }
  }
};

OutputFiles::OutputFiles(bool no_clobber) : impl_(new Impl{no_clobber, {}}) {}
OutputFiles::~OutputFiles() = default;

ByteSink& OutputFiles::open(const std::string& path) {
  OutputTarget target = resolve_output(path);
  for (const auto& output : impl_->outputs)
    if (same_place(output->target(), target))
      fail(ErrorKind::usage, "two outputs go to the same place: '", printable_end(output->target().path, 100), "' and '",
           printable_end(path, 100), "'");
  impl_->outputs.push_back(std::make_unique<Output>(std::move(target), impl_->no_clobber));
  return impl_->outputs.back()->sink();
}

bool OutputFiles::commit() {
  auto& outputs = impl_->outputs;
  for (const auto& output : outputs) output->complete();
  bool reader_gone = impl_->any_reader_gone();
  try {
    if (!reader_gone)
      for (const auto& output : outputs) output->copy_spool();
  } catch (const StandardOutput::ReaderGone&) {
    reader_gone = true;
  }
  if (!reader_gone) {
    for (const auto& output : outputs) output->rename();
    impl_->sync_folders();
  }
  outputs.clear();
  return !reader_gone;
}

bool write_stream(int descriptor, std::string_view text) {
  const int error = write_fully(descriptor, text.data(), text.size());
  if (error == EPIPE) return false;
  if (error != 0)
    fail(ErrorKind::output, "cannot write standard ", descriptor == STDERR_FILENO ? "error" : "output", ": ", error_text(error));
  return true;
}

}  // namespace v1
}  // namespace attn
