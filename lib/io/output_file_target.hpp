#pragma once

#include <sys/stat.h>

#include <string>

namespace attn {
inline namespace v1 {

/// Where an output really goes.
struct OutputTarget {
  enum class Kind {
    standard_output,  ///< "-", /dev/stdout and their like: spooled
    replaced,         ///< a regular file or a new one: written beside, then renamed
    in_place,         ///< devices, FIFOs, descriptors of a file that someone else opened
  };
  std::string path;  ///< as given, for messages
  Kind kind = Kind::replaced;
  std::string folder;    ///< replaced: real path of the folder
  std::string resolved;  ///< replaced: real path of the file, links followed
  int descriptor = -1;   ///< in_place: the descriptor meant by /dev/fd/N on a regular file; else -1
  bool exists = false;
  struct stat status {};         ///< of what exists
  struct stat folder_status {};  ///< replaced: of the folder
};

/// Finds out what a path means without touching anything. Throws ErrorKind::output when nothing can be written there.
OutputTarget resolve_output(const std::string& path);

/// Whether two outputs would end in the same place.
bool same_place(const OutputTarget& a, const OutputTarget& b);

}  // namespace v1
}  // namespace attn
