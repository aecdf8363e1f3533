#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "attn/base/array.hpp"
#include "attn/base/error.hpp"

namespace attn::app {

/// A file that a job reads or writes.
struct JobFile {
  std::string written;  ///< as in the manifest, for the results
  std::string path;     ///< from where we are
};

/// One line of a manifest.
struct BatchJob {
  Index line = 0;                    ///< counted from 1; the job's number
  std::uint64_t hash = 0;            ///< of what the line says, whatever the order of its keys and its blanks
  const Command* command = nullptr;  ///< null for a line that is no job
  Words words;
  std::vector<JobFile> inputs, outputs;
  std::optional<Error> fault;  ///< why it cannot run
};

/// What stands before the relative paths of a manifest: its folder with a slash, or nothing.
std::string folder_before(const std::string& manifest);

/// The jobs of a manifest in its order. Lines with nothing but blanks are none. A line that is wrong is a job with a
/// fault that names it; nothing is thrown for it.
std::vector<BatchJob> parse_manifest(std::string_view text, const std::string& name, const std::string& folder);

/// Gives a fault to every job that would write what an earlier line writes, or read what any line writes: jobs run in
/// any order, on any machine.
void refuse_shared_paths(std::vector<BatchJob>& jobs, const std::string& name);

}  // namespace attn::app
