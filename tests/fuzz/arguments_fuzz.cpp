// Bytes, split at zero bytes, as the words of a command line; the first byte picks the subcommand. Words are taken or
// refused as wrong usage; what is taken and spelled out again in one form is taken to the same; values are checked, and
// `compute` is resolved, without a file being opened.
#include <algorithm>
#include <map>

#include "app/command.hpp"
#include "app/compute_args.hpp"
#include "app/console.hpp"
#include "app/inputs.hpp"
#include "fuzz/support/check.hpp"
#include "fuzz/support/draws.hpp"

using namespace attn;
using namespace attn::app;
using namespace attn::fuzz;

namespace {

/// The table of a subcommand, made once.
const std::vector<OptionSpec>& options_of(const Command& command) {
  static std::map<std::string_view, std::vector<OptionSpec>> tables;
  std::vector<OptionSpec>& table = tables[command.name];
  if (table.empty()) table = all_options(command);
  return table;
}

/// Every option as --name=value or --name, then the inputs behind "--".
std::vector<std::string> spelled_out(const Command& command, const Words& words) {
  std::vector<std::string> arguments;
  for (const OptionSpec& option : options_of(command)) {
    if (!words.has(option.name)) continue;
    for (const std::string& value : words.values(option.name))
      arguments.push_back(option.value.empty() ? std::string(option.name) : concat(option.name, "=", value));
  }
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), words.inputs.begin(), words.inputs.end());
  return arguments;
}

void require_same(const Command& command, const Words& words) {
  const Words again = parse_words(command, spelled_out(command, words));
  require(again.given() == words.given() && again.inputs == words.inputs, "words spelled out are other words");
  for (const std::string& option : words.given())
    require(again.values(option) == words.values(option), "a value spelled out is another value");
}

/// Numbers that were taken are in their ranges and mean what they say.
void check_values(const Command& command, const Words& words) {
  for (const OptionSpec& option : options_of(command)) {
    if (option.kind != ValueKind::number && option.kind != ValueKind::integer && option.kind != ValueKind::size) continue;
    for (const std::string& value : words.values(option.name)) {
      check_value(option, option.name, value);
      if (option.kind == ValueKind::size) require(parse_size(value).has_value(), "a size that is none: " + value);
    }
  }
}

void check_texts(std::string_view text) {
  for (const std::string_view option : {"--heads", "--scale"}) {
    try {
      bool single = false;
      const std::vector<long long> list = index_list_value(option, text, &single);
      require(!list.empty() && (!single || list.size() == 1), "a list of heads without heads");
      for (const long long index : list) require(index >= 0, "a head below 0");
    } catch (const Error& error) {
      require_orderly(error, {ErrorKind::usage});
    }
  }
  const auto integer = parse_integer(text);
  require(!integer || std::to_string(*integer) == text || text == "-0", "an integer that is written in another way");
  if (const auto list = parse_string_list(text))
    require(std::all_of(list->begin(), list->end(), is_utf8), "a list of texts that are not UTF-8");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const Command& command = commands()[draws.byte() % commands().size()];
  std::vector<std::string> arguments;
  while (!draws.empty() && arguments.size() < 24) arguments.push_back(draws.until('\0'));
  for (const std::string& argument : arguments) check_texts(argument);
  try {
    const Words words = parse_words(command, arguments);
    if (words.has("--help") || words.has("--version")) return 0;
    require_same(command, words);
    check_values(command, words);
    if (command.name != "compute") return 0;
    static const Console console(RunContext{}, "never");
    const ComputeRequest request = resolve_compute(words, console);
    refuse_idle_options(words);
    for (const OutputRequest& output : request.outputs) require(!output.format.empty(), "an output without a format");
  } catch (const Error& error) {
    require_orderly(error, {ErrorKind::usage});
  }
  return 0;
}
