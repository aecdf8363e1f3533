#include "app/help.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/completion.hpp"
#include "attn/base/error.hpp"

namespace attn::app {
namespace {

constexpr std::size_t kWidth = 96;   // of a help text, in characters
constexpr std::size_t kColumn = 30;  // where the explanations of options begin

/// Characters of UTF-8 text: every byte that does not continue one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Appends words broken at `kWidth`; the first line goes on at column `at`, the others begin at `indent`.
void append_wrapped(std::string& out, std::string_view text, std::size_t at, std::size_t indent) {
  bool first_word = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t length = characters(word);
    if (!first_word && at + 1 + length > kWidth) {
      out += '\n' + std::string(indent, ' ');
      at = indent;
      first_word = true;
    }
    if (!first_word) out += ' ', ++at;
    out += word;
    at += length;
    first_word = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

void append_option(std::string& out, const OptionSpec& option) {
  const std::string heading = concat("  ", option.letter ? "" : "    ", option_heading(option));
  out += heading;
  std::size_t at = characters(heading);
  if (at + 2 > kColumn) {
    out += '\n';
    at = 0;
  }
  out += std::string(kColumn - at, ' ');
  append_wrapped(out, option_text(option), kColumn, kColumn);
}

/// Where the files of the examples are: those that were installed beside this program, else those of the source tree.
std::string examples_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path().parent_path() / "share/doc/attn-cli/examples";
  return !error && std::filesystem::is_directory(installed, error) ? "a copy of " + installed.string() : "samples/";
}

void append_examples(std::string& out, std::span<const std::string_view> examples) {
  out += concat("Examples (run them in ", examples_folder(), "):\n");
  for (const std::string_view example : examples) out += concat("  ", example, "\n");
  out += '\n';
}

void append_commands(std::string& out) {
  out += "Subcommands:\n";
  for (const Command& command : commands()) {
    out += concat("  ", command.name, std::string(14 - command.name.size(), ' '));
    append_wrapped(out, command.summary, 16, 16);
  }
}

}  // namespace

std::span<const ExitCode> exit_codes() {
  static constexpr std::array<ExitCode, 8> codes{{
      {"0", "done"},
      {"1", "the answer is \"no\": diff found a difference"},
      {"2", "wrong use: an option, a value, a conflict"},
      {"3", "an input cannot be read or is malformed"},
      {"4", "inputs do not fit together or are not finite"},
      {"5", "an output cannot be written"},
      {"6", "more memory would be needed than --max-memory or the machine allows"},
      {"70", "a fault of attn-cli itself"},
  }};
  return codes;
}

std::string option_heading(const OptionSpec& option) {
  std::string text = option.letter ? concat("-", option.letter, ", ") : std::string();
  text += option.name;
  if (!option.value.empty()) text += concat(" ", option.value);
  return text;
}

std::string option_text(const OptionSpec& option) {
  std::string text(option.help);
  const std::vector<std::string> words = value_words(option);
  if (!words.empty() && option.value.find('|') == std::string_view::npos) {
    text += " (";
    for (std::size_t i = 0; i < words.size(); ++i) text += concat(i ? ", " : "", words[i]);
    text += ")";
  }
  if (option.repeatable) text += "; may be repeated";
  if (!option.default_text.empty()) text += concat(" [default: ", option.default_text, "]");
  return text;
}

std::vector<std::string_view> option_groups(const std::vector<OptionSpec>& options) {
  std::vector<std::string_view> groups;
  for (const OptionSpec& option : options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

std::string short_help() {
  std::string out =
      "attn-cli computes attention exactly and draws it.\n\n"
      "Usage: attn-cli SUBCOMMAND [options] [inputs]\n\n"
      "  attn-cli demo -o demo                               the example \"The cat is cute\" and its files\n"
      "  attn-cli compute demo/document.json                 attention of a JSON document\n"
      "  attn-cli compute demo/document.json -w weights.png  its weights as a picture\n\n";
  append_commands(out);
  out += "\nMore: attn-cli --help, attn-cli SUBCOMMAND --help\n";
  return out;
}

std::string main_help() {
  std::string out = "attn-cli computes attention exactly, from matrices or token embeddings, and draws it.\n\n";
  std::vector<std::string_view> examples;
  for (const Command& command : commands())
    if (!command.examples.empty()) examples.push_back(command.examples.front());
  append_examples(out, examples);
  out += "Usage: attn-cli SUBCOMMAND [options] [inputs]\n\n";
  append_commands(out);
  out += "\nEverywhere:\n";
  for (const OptionSpec& option : common_options()) append_option(out, option);
  out +=
      "\n\"-\" is standard input or output; \"--\" ends the options; @FILE reads a text or a list from a file;\n"
      "ARCHIVE:NAME is one array of an archive, such as dump.npz:q.\n\nExit codes:\n";
  for (const ExitCode& code : exit_codes())
    out += concat("  ", code.code, std::string(4 - code.code.size(), ' '), code.meaning, "\n");
  out +=
      "\nDefaults of one's own: ATTN_CLI_COLORMAP, _THEME, _FONT, _DPI, _COLOR, _PROGRESS, _THREADS and _MAX_MEMORY, or\n"
      "the same names in $XDG_CONFIG_HOME/attn-cli/config.json: {\"colormap\": \"magma\", \"threads\": 4}.\n"
      "ATTN_CLI_SIMD=sse2|avx2|avx512|neon forces an instruction set.\n";
  return out;
}

std::string command_help(const Command& command) {
  std::string out = concat("attn-cli ", command.name, ": ", command.summary, "\n\n");
  if (!command.examples.empty()) append_examples(out, command.examples);
  out += concat("Usage: attn-cli ", command.usage, "\n");
  if (!command.description.empty()) {
    out += '\n';
    append_wrapped(out, command.description, 0, 0);
  }
  const std::vector<OptionSpec> options = all_options(command);
  for (const std::string_view group : option_groups(options)) {
    out += concat("\n", group, ":\n");
    for (const OptionSpec& option : options)
      if (option.group == group) append_option(out, option);
  }
  return out;
}

}  // namespace attn::app
