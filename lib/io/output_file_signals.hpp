#pragma once

#include <string>

namespace attn {
inline namespace v1 {

/// A temporary file that also goes when the run is ended by a signal. Created beside its target; removed when forgotten
/// unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  /// Creates FOLDER/.attn-XXXXXX and opens it for writing. Throws ErrorKind::output naming `target`.
  TemporaryFile(const std::string& folder, const std::string& target, int& descriptor);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Gives the file its final name, in place of what has it; or, with `keep_existing`, only if nothing has it.
  /// Returns the error number; on failure the temporary stays registered.
  int rename_to(const std::string& target, bool keep_existing);

 private:
  int slot_ = -1;
};

}  // namespace v1
}  // namespace attn
