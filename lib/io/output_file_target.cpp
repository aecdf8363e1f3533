#include "io/output_file_target.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/descriptor.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr int kMostLinks = 40;

/// N of /dev/fd/N, /proc/self/fd/N and the names of the standard streams.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(folder))
      if (const auto number = parse_integer(path.substr(folder.size())); number && *number >= 0 && *number <= INT_MAX)
        return static_cast<int>(*number);
  return std::nullopt;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What one symbolic link says, as a path from where we are; nothing if it is no link.
std::optional<std::string> link_target(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), text, sizeof text);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof text)) return std::nullopt;
  const std::string target(text, static_cast<std::size_t>(length));
  return target.starts_with('/') ? target : folder_of(path) + "/" + target;
}

std::string real_path(const std::string& path, const std::string& given) {
  const std::unique_ptr<char, decltype(&std::free)> text(::realpath(path.c_str(), nullptr), &std::free);
  if (!text) fail_output(given, errno);
  return text.get();
}

/// Follows links to the name that is to be made or replaced, though nothing may have that name yet.
void resolve_replaced(OutputTarget& target) {
  std::string name = target.path;
  for (int links = 0; const auto next = link_target(name); ++links) {
    if (links == kMostLinks) fail_output(target.path, ELOOP);
    name = *next;
  }
  const std::string base = base_of(name);
  if (base.empty() || base == "." || base == "..") fail_output(target.path, target.exists ? EISDIR : ENOENT);
  target.folder = real_path(folder_of(name), target.path);
  target.resolved = target.folder + (target.folder == "/" ? "" : "/") + base;
  if (::stat(target.folder.c_str(), &target.folder_status) != 0) fail_output(target.path, errno);
  if (!S_ISDIR(target.folder_status.st_mode)) fail_output(target.path, ENOTDIR);
  // A file that was made read-only is not to be replaced, though its folder would allow it.
  if (target.exists && ::faccessat(AT_FDCWD, target.resolved.c_str(), W_OK, AT_EACCESS) != 0) fail_output(target.path, errno);
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

OutputTarget resolve_output(const std::string& path) {
  OutputTarget target;
  target.path = path;
  const auto descriptor = path == "-" ? std::optional<int>(STDOUT_FILENO) : descriptor_of(path);
  if (descriptor) {
    target.exists = ::fstat(*descriptor, &target.status) == 0;
    if (!target.exists && path != "-") fail_output(path, errno);
  } else {
    if (path.empty() || path.find('\0') != std::string::npos) fail_output(path, ENOENT);
    target.exists = ::stat(path.c_str(), &target.status) == 0;
    if (!target.exists && errno != ENOENT) fail_output(path, errno);
  }
  const mode_t mode = target.status.st_mode;
  if (descriptor == STDOUT_FILENO) {
    target.kind = OutputTarget::Kind::standard_output;
  } else if (target.exists && S_ISDIR(mode)) {
    fail_output(path, EISDIR);
  } else if (target.exists && (descriptor || !S_ISREG(mode))) {
    target.kind = OutputTarget::Kind::in_place;
    if (descriptor && S_ISREG(mode)) target.descriptor = *descriptor;
  } else {
    resolve_replaced(target);
  }
  return target;
}

bool same_place(const OutputTarget& a, const OutputTarget& b) {
  using Kind = OutputTarget::Kind;
  if (a.kind == Kind::standard_output && b.kind == Kind::standard_output) return true;
  // Standard output may be one of the named files. Where both lead to one terminal or to /dev/null they may be mixed.
  const bool may_be_one = a.kind == b.kind || S_ISREG(a.status.st_mode);
  if (a.exists && b.exists && may_be_one && same_file(a.status, b.status)) return true;
  if (a.kind != Kind::replaced || b.kind != Kind::replaced) return false;
  return same_file(a.folder_status, b.folder_status) && base_of(a.resolved) == base_of(b.resolved);
}

}  // namespace v1
}  // namespace attn
