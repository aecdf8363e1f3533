#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/batch_manifest.hpp"

namespace attn::app {

/// What tells whether a file is still the one that it was.
struct FileStamp {
  std::string path;  ///< as in the manifest
  bool exists = false;
  bool regular = false;
  std::int64_t size = 0, mtime_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

/// The stamps of files as they are now. Of "ARCHIVE:NAME" it is the archive that counts.
std::vector<FileStamp> stamps_of(const std::vector<JobFile>& files);

/// What became of one job.
struct JobResult {
  int exit = 0;
  bool skipped = false;  ///< an earlier run had done it
  double seconds = 0;
  std::vector<FileStamp> inputs, outputs;
  std::string error, hint;
  std::vector<std::string> notes;
};

/// One line of JSON with its end.
std::string result_line(const BatchJob& job, const JobResult& result);

/// The jobs that earlier runs did, from their result lines.
class DoneJobs {
 public:
  /// Reads the text of a results file. Lines that are cut off are passed over: those runs were killed while they wrote.
  /// Throws Error{malformed} if the file has lines, and none is a result.
  void read(std::string_view text, const std::string& name);

  /// The recorded result if the job need not be done again: done by this version, its inputs and outputs untouched since.
  std::optional<JobResult> find(const BatchJob& job) const;

 private:
  std::map<std::uint64_t, JobResult> done_;  // by hash
};

}  // namespace attn::app
