#include "app/batch_results.hpp"

#include <sys/stat.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attn/base/text.hpp"
#include "attn/io/array_file.hpp"
#include "version.hpp"

namespace attn::app {
namespace {

using Json = nlohmann::ordered_json;

std::string hash_text(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

FileStamp stamp_of(const JobFile& file, const std::string& path) {
  FileStamp stamp{.path = file.written};
  struct stat status {};
  stamp.exists = ::stat(path.c_str(), &status) == 0;
  stamp.regular = stamp.exists && S_ISREG(status.st_mode);
  if (!stamp.regular) return stamp;
  stamp.size = status.st_size;
  stamp.mtime_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return stamp;
}

Json json_of(const std::vector<FileStamp>& stamps) {
  Json list = Json::array();
  for (const FileStamp& stamp : stamps) {
    Json entry{{"path", stamp.path}};
    if (stamp.regular) {
      entry["size"] = stamp.size;
      entry["mtime_ns"] = stamp.mtime_ns;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<FileStamp> stamps_from(const Json& list) {
  std::vector<FileStamp> stamps;
  for (const Json& entry : list) {
    FileStamp stamp{.path = entry.at("path").get<std::string>()};
    stamp.exists = stamp.regular = entry.contains("size");
    if (stamp.regular) {
      stamp.size = entry.at("size").get<std::int64_t>();
      stamp.mtime_ns = entry.at("mtime_ns").get<std::int64_t>();
    }
    stamps.push_back(std::move(stamp));
  }
  return stamps;
}

/// The object of a line; nothing if it was cut off or is no object.
std::optional<Json> object_of(std::string_view line) {
  constexpr std::size_t kMostNesting = 16;
  std::size_t depth = 0;
  for (const char c : line) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMostNesting && depth < line.size()) return std::nullopt;
  }
  if (line.find('\0') != std::string_view::npos) return std::nullopt;  // it would be taken for the end
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

bool all_regular(const std::vector<FileStamp>& stamps) {
  for (const FileStamp& stamp : stamps)
    if (!stamp.regular) return false;
  return true;
}

}  // namespace

std::vector<FileStamp> stamps_of(const std::vector<JobFile>& files) {
  std::vector<FileStamp> stamps;
  for (const JobFile& file : files) stamps.push_back(stamp_of(file, parse_file_reference(file.path).path));
  return stamps;
}

std::string result_line(const BatchJob& job, const JobResult& result) {
  Json json{{"job", job.line}, {"hash", hash_text(job.hash)}};
  if (job.command) json["command"] = std::string(job.command->name);
  json["exit"] = result.exit;
  if (result.skipped) json["skipped"] = true;
  json["seconds"] = std::round(result.seconds * 1e6) / 1e6;
  json["outputs"] = json_of(result.outputs);
  json["inputs"] = json_of(result.inputs);
  if (!result.error.empty()) json["error"] = result.error;
  if (!result.hint.empty()) json["hint"] = result.hint;
  if (!result.notes.empty()) json["notes"] = result.notes;
  json["version"] = kVersion;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void DoneJobs::read(std::string_view text, const std::string& name) {
  bool any = false, other = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto json = object_of(line);
    if (!json) continue;
    try {
      const std::string hash = json->at("hash").get<std::string>();
      const int exit = json->at("exit").get<int>();
      any = true;
      if (exit != 0 || json->at("version").get<std::string>() != kVersion) continue;
      JobResult result;
      result.skipped = true;
      result.outputs = stamps_from(json->at("outputs"));
      result.inputs = stamps_from(json->at("inputs"));
      if (json->contains("notes")) result.notes = json->at("notes").get<std::vector<std::string>>();
      done_[std::stoull(hash, nullptr, 16)] = std::move(result);
    } catch (const std::exception&) {
      other = true;  // an object of another kind, such as a line of the manifest
    }
  }
  if (other && !any) fail(ErrorKind::malformed, name, ": holds no results of a batch");
}

std::optional<JobResult> DoneJobs::find(const BatchJob& job) const {
  const auto done = done_.find(job.hash);
  if (done == done_.end() || !all_regular(done->second.inputs) || !all_regular(done->second.outputs)) return std::nullopt;
  if (stamps_of(job.inputs) != done->second.inputs || stamps_of(job.outputs) != done->second.outputs) return std::nullopt;
  return done->second;
}

}  // namespace attn::app
