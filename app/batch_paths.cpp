#include <filesystem>
#include <unordered_map>

#include "app/batch_manifest.hpp"
#include "attn/base/text.hpp"
#include "attn/io/array_file.hpp"
#include "io/output_file_target.hpp"

namespace attn::app {
namespace {

/// One name for every way to write a path: links and ./ are resolved, folders that are mounted twice are one.
std::string place_of(const std::string& path) {
  try {
    const OutputTarget target = resolve_output(path);
    if (target.kind == OutputTarget::Kind::replaced)
      return concat(target.folder_status.st_dev, ":", target.folder_status.st_ino,
                    target.resolved.substr(target.resolved.rfind('/')));
  } catch (const Error&) {
    // Nothing can be written there, or not yet; the job that tries will say so.
  }
  std::error_code error;
  const std::filesystem::path plain = std::filesystem::weakly_canonical(path, error);
  return error ? path : plain.string();
}

class Places {
 public:
  const std::string& of(const std::string& path) {
    const auto [place, fresh] = known_.try_emplace(path);
    if (fresh) place->second = place_of(path);
    return place->second;
  }

 private:
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace

void refuse_shared_paths(std::vector<BatchJob>& jobs, const std::string& name) {
  Places places;
  std::unordered_map<std::string, Index> writers;  // the first line that writes each place
  for (BatchJob& job : jobs) {
    if (job.fault) continue;
    for (const JobFile& file : job.outputs) {
      const Index line = writers.try_emplace(places.of(file.path), job.line).first->second;
      if (line != job.line)
        job.fault = Error(ErrorKind::usage, concat(name, ":", job.line, ": '", printable_end(file.written),
                                                   "' is written by line ", line, " already"));
    }
  }
  for (BatchJob& job : jobs) {
    if (job.fault) continue;
    for (const JobFile& file : job.inputs) {
      const auto writer = writers.find(places.of(parse_file_reference(file.path).path));
      if (writer != writers.end())
        job.fault = Error(ErrorKind::usage,
                          concat(name, ":", job.line, ": reads '", printable_end(file.written), "', which ",
                                 writer->second == job.line ? "it writes itself" : concat("line ", writer->second, " writes")),
                          "jobs run in any order: put those that need the others' files into a second manifest");
    }
  }
}

}  // namespace attn::app
