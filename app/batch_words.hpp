#pragma once

#include <string>
#include <vector>

#include "app/batch_manifest.hpp"

namespace attn::app {

/// The value of one key of a job.
struct JobValue {
  std::vector<std::string> texts = {};  ///< strings and numbers as they would be typed; "true" or "false"
  bool is_flag = false;                 ///< true or false
  bool is_list = false;
  bool has_text = false;  ///< a string is among them
  bool is_other = false;  ///< null, an object, a list of lists
};

/// Makes the words of a job from its keys, by the table of its subcommand. Throws Error{usage} that begins with `place`.
class JobWords {
 public:
  JobWords(const Command& command, const std::string& place, const std::string& folder, BatchJob& job);

  void add(const std::string& key, const JobValue& value);
  /// Checks what no key alone can tell: inputs that are missing, a job without output.
  void finish() const;

 private:
  const OptionSpec& find(const std::string& key) const;
  std::vector<std::string> values_of(const OptionSpec& option, const std::string& key, const JobValue& value) const;
  std::string resolved(const OptionSpec& option, const std::string& key, const std::string& text);
  std::string take_file(const std::string& key, const std::string& written, std::vector<JobFile>& files) const;

  const Command& command_;
  const std::string& place_;
  const std::string& folder_;
  BatchJob& job_;
  const std::vector<OptionSpec> options_;
};

}  // namespace attn::app
