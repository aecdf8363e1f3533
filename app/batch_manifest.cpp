#include "app/batch_manifest.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "app/batch_words.hpp"
#include "app/commands.hpp"
#include "app/suggest.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

using Json = nlohmann::json;  // with its keys in alphabetical order: the form that is hashed

/// FNV-1a, then mixed so that every bit of the content moves the low bits that a shard is chosen by.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

/// Lists of lists have no meaning in a job, and the parser's tree would be as deep as the text.
void refuse_depth(std::string_view text, const std::string& place) {
  constexpr int kMost = 16;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMost) fail(ErrorKind::malformed, place, ": is nested too deeply for a job");
  }
}

Json parse_line(std::string_view text, const std::string& place) {
  refuse_depth(text, place);
  std::set<std::string> keys;
  const auto check_key = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth == 1 && event == Json::parse_event_t::key && !keys.insert(value.get<std::string>()).second)
      fail(ErrorKind::malformed, place, ": '", printable(value.get<std::string>(), 80), "' stands twice in the job");
    return true;
  };
  constexpr std::string_view kNoJson = ": found no valid JSON, expected {\"command\": \"compute\", ..}";
  // A zero byte would be taken for the end.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    fail(ErrorKind::malformed, place, ":", zero + 1, kNoJson);
  Json json;
  try {
    json = Json::parse(text, check_key);
  } catch (const Json::parse_error& error) {
    // A number that is too large for a double is the other error there is; it says no place.
    fail(ErrorKind::malformed, place, ":", error.byte, kNoJson);
  } catch (const Json::exception&) {
    fail(ErrorKind::malformed, place, ": holds a number beyond ±1.8e308");
  }
  if (!json.is_object())
    fail(ErrorKind::malformed, place, ": found ", json.type_name(), ", expected {\"command\": \"compute\", ..}");
  return json;
}

const Command& command_of(const Json& json, const std::string& place) {
  const std::array<const Command*, 2> known{&compute_command(), &render_command()};
  const std::vector<std::string> names{"compute", "render"};
  const auto named = json.find("command");
  if (named == json.end() || !named->is_string()) {
    std::string hint;
    for (const auto& [key, value] : json.items())
      if (hint.empty() && named == json.end() && nearest(key, std::vector<std::string>{"command"}))
        hint = concat("did you mean 'command' by '", printable(key, 80), "'?");
    fail_with_hint(ErrorKind::usage, hint, place, ": a job needs \"command\": \"compute\" or \"render\"");
  }
  const std::string name = named->get<std::string>();
  for (const Command* command : known)
    if (command->name == name) return *command;
  fail_with_hint(ErrorKind::usage, did_you_mean(name, names), place, ": found command '", printable(name, 80),
                 "', expected compute or render");
}

/// Text of one value as it would be typed; nothing for what is none.
std::optional<std::string> scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_number(value.get<double>());
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

/// Strings and numbers as they are; a list is one value for each, or numbers with commas between.
JobValue job_value(const Json& value) {
  JobValue found;
  found.is_flag = value.is_boolean();
  found.is_list = value.is_array();
  const Json items = value.is_array() ? value : Json::array({value});
  for (const Json& item : items) {
    const auto text = scalar_text(item);
    if (!text || (found.is_list && item.is_boolean())) return {.is_other = true};
    found.has_text = found.has_text || item.is_string();
    found.texts.push_back(*text);
  }
  return found;
}

void fill_job(std::string_view text, const std::string& place, const std::string& folder, BatchJob& job) {
  const Json json = parse_line(text, place);
  job.hash = hash_of(json.dump());
  const Command& command = command_of(json, place);
  job.command = &command;
  JobWords words(command, place, folder, job);
  for (const auto& [key, value] : json.items())
    if (key != "command") words.add(key, job_value(value));
  words.finish();
}

}  // namespace

std::string folder_before(const std::string& manifest) {
  const std::size_t slash = manifest.rfind('/');
  return slash == std::string::npos ? std::string() : manifest.substr(0, slash + 1);
}

std::vector<BatchJob> parse_manifest(std::string_view text, const std::string& name, const std::string& folder) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<BatchJob> jobs;
  for (Index number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    BatchJob job;
    job.line = number;
    job.hash = hash_of(line);
    try {
      fill_job(line, concat(name, ":", number), folder, job);
    } catch (const Error& error) {
      job.fault = error;
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace attn::app
