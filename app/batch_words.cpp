#include "app/batch_words.hpp"

#include <algorithm>
#include <array>

#include "app/suggest.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

/// What the whole batch is told, and no job by itself.
constexpr std::array<std::string_view, 7> kOfTheBatch{"--threads", "--max-memory", "--progress", "--quiet",
                                                      "--verbose", "--help",       "--version"};

bool is_output(const OptionSpec& option) { return option.kind == ValueKind::file && option.group.starts_with("Output"); }

/// "TEXT|@FILE", "LIST|@FILE"
bool takes_reference(const OptionSpec& option) { return option.value.find("@FILE") != std::string_view::npos; }

/// Standard input, standard output and the descriptors behind them belong to the batch.
bool is_stream(std::string_view path) {
  constexpr std::array<std::string_view, 6> kNames{"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/", "/proc/"};
  return path == "-" || path.starts_with("-:") ||
         std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return path.starts_with(name); });
}

}  // namespace

JobWords::JobWords(const Command& command, const std::string& place, const std::string& folder, BatchJob& job)
    : command_(command), place_(place), folder_(folder), job_(job), options_(all_options(command)) {}

const OptionSpec& JobWords::find(const std::string& key) const {
  const std::string name = "--" + key;
  if (std::find(kOfTheBatch.begin(), kOfTheBatch.end(), name) != kOfTheBatch.end())
    fail_with_hint(ErrorKind::usage, concat("attn-cli batch ", name, " .. is for all jobs"), place_, ": '", key,
                   "' is not said of one job");
  for (const OptionSpec& option : options_)
    if (option.name == name) return option;
  std::vector<std::string> keys{"command"};
  if (command_.max_inputs > 0) keys.emplace_back("input");
  for (const OptionSpec& option : options_) keys.emplace_back(option.name.substr(2));
  fail_with_hint(ErrorKind::usage, did_you_mean(key, keys), place_, ": '", printable(key, 80), "' is no option of ",
                 command_.name);
}

std::vector<std::string> JobWords::values_of(const OptionSpec& option, const std::string& key, const JobValue& value) const {
  if (value.is_other || value.is_flag || (value.is_list && value.has_text && !option.repeatable))
    fail(ErrorKind::usage, place_, ": '", key, "': expected a text or a number (", option.value, ")");
  if (!value.is_list || option.repeatable) return value.texts;
  std::string list;
  for (const std::string& text : value.texts) list += concat(list.empty() ? "" : ",", text);
  return {list};
}

std::string JobWords::take_file(const std::string& key, const std::string& written, std::vector<JobFile>& files) const {
  if (written.empty()) fail(ErrorKind::usage, place_, ": '", key, "': found an empty name, expected a file");
  if (is_stream(written))
    fail(ErrorKind::usage, place_, ": '", key, "': '", printable(written, 80), "' belongs to the batch; expected a file");
  files.push_back({written, written.front() == '/' ? written : folder_ + written});
  return files.back().path;
}

std::string JobWords::resolved(const OptionSpec& option, const std::string& key, const std::string& text) {
  if (text.find('\0') != std::string::npos) fail(ErrorKind::usage, place_, ": '", key, "': found the character NUL");
  if (is_output(option)) return take_file(key, text, job_.outputs);
  if (option.kind == ValueKind::file) return take_file(key, text, job_.inputs);
  if (takes_reference(option) && text.starts_with('@')) return "@" + take_file(key, text.substr(1), job_.inputs);
  check_value(option, concat(place_, ": '", key, "'"), text);
  return text;
}

void JobWords::add(const std::string& key, const JobValue& value) {
  if (key == "input") {
    if (value.texts.size() != 1 || value.is_flag || value.is_other)
      fail(ErrorKind::usage, place_, ": 'input': expected the name of one file");
    if (value.texts[0].find('\0') != std::string::npos) fail(ErrorKind::usage, place_, ": 'input': found the character NUL");
    job_.words.inputs = {take_file(key, value.texts[0], job_.inputs)};
    return;
  }
  const OptionSpec& option = find(key);
  const std::string source = concat("line ", job_.line);
  if (option.value.empty()) {
    if (!value.is_flag) fail(ErrorKind::usage, place_, ": '", key, "': expected true or false");
    if (value.texts[0] == "true") return job_.words.add(option.name, "true", source);
    return job_.words.add_off(option.name, source, Rank::command_line);
  }
  for (const std::string& text : values_of(option, key, value)) job_.words.add(option.name, resolved(option, key, text), source);
}

void JobWords::finish() const {
  if (static_cast<int>(job_.words.inputs.size()) < command_.min_inputs)
    fail(ErrorKind::usage, place_, ": ", command_.name, " needs \"input\": \"FILE\"");
  if (!job_.outputs.empty()) return;
  std::string names;
  for (const OptionSpec& option : options_)
    if (is_output(option)) names += concat(names.empty() ? "" : ", ", option.name.substr(2));
  fail(ErrorKind::usage, place_, ": the job writes nothing; expected one of ", names);
}

}  // namespace attn::app
