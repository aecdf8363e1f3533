#include "app/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/array_file.hpp"

namespace attn::app {
namespace {

/// How things look and run: all that the environment and the personal file may say.
constexpr std::array<std::string_view, 8> kPersonal{"colormap", "theme",    "font",    "dpi",
                                                    "color",    "progress", "threads", "max-memory"};

/// What no file of defaults may say.
constexpr std::array<std::string_view, 3> kNever{"config", "help", "version"};

const OptionSpec* find_option(const std::vector<OptionSpec>& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const OptionSpec& o) { return o.name.substr(2) == name; });
  return found == options.end() ? nullptr : &*found;
}

/// "MAX_MEMORY" of "max-memory".
std::string upper_case(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// The option of that name in any subcommand: what a file of defaults for several of them may hold.
const OptionSpec* find_anywhere(std::string_view name) {
  for (const Command& command : commands())
    if (const OptionSpec* option = find_option(command.options, name)) return option;
  for (const OptionSpec& option : common_options())
    if (option.name.substr(2) == name) return &option;
  return nullptr;
}

std::vector<std::string> every_name() {
  std::vector<std::string> names;
  const auto add = [&](std::span<const OptionSpec> options) {
    for (const OptionSpec& option : options)
      if (std::find(kNever.begin(), kNever.end(), option.name.substr(2)) == kNever.end())
        names.emplace_back(option.name.substr(2));
  };
  for (const Command& command : commands()) add(command.options);
  add(common_options());
  return names;
}

/// The values of one key of a file of defaults, as they would be typed; nothing for what no option takes.
std::optional<std::vector<std::string>> typed_values(ArrayFile& file, std::size_t index) {
  const Member& member = file.members()[index];
  switch (member.kind) {
    case MemberKind::text:
    case MemberKind::scalar:
      return std::vector{member.text};
    case MemberKind::strings:
      return member.strings;
    case MemberKind::array:
      break;
    case MemberKind::object:
    case MemberKind::other:
      return std::nullopt;
  }
  if (member.shape.size() != 1 || member.shape[0] > 4096) return std::nullopt;  // a list of heads or lengths, no matrix
  std::vector<double> numbers(static_cast<std::size_t>(member.shape[0]));
  file.read_rows(index, 0, 1, numbers.data());
  std::string list;
  for (const double number : numbers) list += concat(list.empty() ? "" : ",", format_number(number));
  return std::vector{list};
}

struct Origin {
  std::string source;  ///< "config mine.json"
  Rank rank;
};

void add_flag(const OptionSpec& option, const std::string& place, const std::string& text, const Origin& origin, Words& words) {
  if (text == "false") return words.add_off(option.name, origin.source, origin.rank);
  if (text != "true") fail(ErrorKind::usage, place, ": found '", printable(text, 80), "', expected true or false");
  words.add_default(option.name, text, origin.source, origin.rank);
}

void add_values(const OptionSpec& option, const std::string& place, const std::vector<std::string>& values, const Origin& origin,
                Words& words) {
  if (values.size() > 1 && !option.repeatable) fail(ErrorKind::usage, place, ": found ", values.size(), " values, expected one");
  for (const std::string& value : values) {
    if (option.value.empty()) {
      add_flag(option, place, value, origin, words);
      continue;
    }
    check_value(option, place, value);
    words.add_default(option.name, value, origin.source, origin.rank);
  }
}

void add_member(ArrayFile& file, std::size_t index, const Command& command, const Origin& origin, Words& words) {
  const Member& member = file.members()[index];
  const bool personal = origin.rank == Rank::personal;
  const std::vector<std::string> names = personal ? as_strings(kPersonal) : every_name();
  const bool known = std::find(names.begin(), names.end(), member.name) != names.end();
  const std::string place = concat(printable(file.name()), ": '", printable(member.name, 80), "'");
  if (!personal && std::find(kNever.begin(), kNever.end(), member.name) != kNever.end())
    fail(ErrorKind::usage, place, " is for the command line alone and cannot stand in a file of defaults");
  if (!known && personal)
    fail_with_hint(ErrorKind::usage, did_you_mean(member.name, names), place, " is not a default of one's own, expected ",
                   word_list(names));
  if (!known) fail_with_hint(ErrorKind::usage, did_you_mean(member.name, names), place, " is not an option");
  const auto values = typed_values(file, index);
  if (!values) fail(ErrorKind::usage, place, ": found what no option takes, expected a text, a number, true or false");
  const std::vector<OptionSpec> options = all_options(command);
  const OptionSpec* own = find_option(options, member.name);
  // Checked although this subcommand has no such option: a slip should not wait for the day it does.
  Words elsewhere;
  add_values(own ? *own : *find_anywhere(member.name), place, *values, origin, own ? words : elsewhere);
}

void add_file(const std::string& path, const Command& command, const Origin& origin, Words& words) {
  ReadOptions options;
  options.format = "json";
  const auto file = open_array_file(path, options, RunContext());
  for (std::size_t i = 0; i < file->members().size(); ++i) {
    if (file->members()[i].name.empty())
      fail(ErrorKind::malformed, printable(path), ": found no object, expected {\"option\": value, ..}");
    add_member(*file, i, command, origin, words);
  }
}

/// Variables that look like ours and would be passed over in silence: other options, and slips. What is like none of them
/// is somebody else's.
void refuse_slips_in_environment() {
  constexpr std::string_view kPrefix = "ATTN_CLI_";
  const std::vector<std::string> options = every_name();
  std::vector<std::string> names{"SIMD"};
  for (const std::string_view name : kPersonal) names.push_back(upper_case(name));
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view variable = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (!variable.starts_with(kPrefix)) continue;
    const std::string_view name = variable.substr(kPrefix.size());
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    for (const std::string& option : options)
      if (upper_case(option) == name)
        fail_with_hint(ErrorKind::usage, concat("--", option, " can be typed, or stand in a file that --config names"),
                       printable(variable, 80), " is not a default of one's own");
    const auto meant = nearest(name, names);
    if (meant && meant->front() == name.front())  // a slip seldom hits the first letter, and ATTN_CLI_HOME is no THEME
      fail_with_hint(ErrorKind::usage, did_you_mean(variable, std::vector<std::string>{concat(kPrefix, *meant)}),
                     printable(variable, 80), " is not a default of one's own");
  }
}

void add_environment(const Command& command, Words& words) {
  refuse_slips_in_environment();
  const std::vector<OptionSpec> options = all_options(command);
  for (const std::string_view name : kPersonal) {
    const std::string variable = concat("ATTN_CLI_", upper_case(name));
    const char* value = std::getenv(variable.c_str());
    if (!value || *value == '\0') continue;
    const OptionSpec* own = find_option(options, name);
    check_value(own ? *own : *find_anywhere(name), variable, value);
    if (own) words.add_default(own->name, value, variable, Rank::environment);
  }
}

std::string personal_path() {
  const char* folder = std::getenv("XDG_CONFIG_HOME");
  if (folder && *folder == '/') return concat(folder, "/attn-cli/config.json");  // the XDG rules ignore a relative one
  const char* home = std::getenv("HOME");
  return home && *home ? concat(home, "/.config/attn-cli/config.json") : std::string();
}

}  // namespace

void add_defaults(const Command& command, Words& words) {
  if (words.has("--config")) {
    const std::string path = words.value("--config");
    add_file(path, command, {concat("config ", path), Rank::config}, words);
  }
  add_environment(command, words);
  const std::string personal = personal_path();
  if (!personal.empty() && access(personal.c_str(), F_OK) == 0)
    add_file(personal, command, {concat("config ", personal), Rank::personal}, words);
  words.settle("--align", "--query-offset");
}

Error with_source(const Error& error, const Words& words) {
  const std::string& message = error.message();
  const std::string option = message.substr(0, message.find_first_of(": "));
  const bool typed = !words.has(option) || words.rank(option) == Rank::command_line || words.rank(option) == Rank::document;
  if (error.kind() != ErrorKind::usage || typed) return error;
  return Error(error.kind(), concat(printable(words.source(option)), ": ", message), error.hint());
}

void tell_sources(const Words& words, Console& console, const Words& told) {
  for (const std::string& option : words.given()) {
    const std::string source = words.source(option);
    if (source != "command line" && source != told.source(option))
      console.detail(concat(option, " ", words.value(option), ": from ", source));
  }
}

}  // namespace attn::app
