#include "app/completion.hpp"
#include "attn/base/error.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {
namespace {

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, what.size()) == what) {
      out += with;
      i += what.size() - 1;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string bash_names(const Command& command) {
  std::string names;
  for (const OptionSpec& option : all_options(command)) {
    names += concat(names.empty() ? "" : " ", option.name);
    if (option.letter) names += concat(" -", option.letter);
  }
  return names;
}

/// The pattern of a case for "SUBCOMMAND OPTION".
std::string bash_pattern(const Command& command, const OptionSpec& option) {
  std::string pattern = concat("\"", command.name, " ", option.name, "\"");
  if (option.letter) pattern += concat("|\"", command.name, " -", option.letter, "\"");
  return pattern;
}

void append_bash_values(std::string& out, const Command& command) {
  for (const OptionSpec& option : all_options(command)) {
    if (option.value.empty()) continue;
    out += concat("    ", bash_pattern(command, option), ") ");
    const auto words = value_words(option);
    if (!words.empty()) {
      out += concat("_attn_cli_words \"", joined(words), "\"");
    } else if (option.kind == ValueKind::file) {
      out += "_attn_cli_files";
    } else {
      out += ":";
    }
    out += "; return;;\n";
  }
}

// In single quotes of zsh: brackets and colons mean something to _arguments.
std::string zsh_text(std::string_view text) {
  std::string out = replaced(text, "\\", "\\\\");
  out = replaced(out, "'", "'\\''");
  out = replaced(out, ":", "\\:");
  out = replaced(out, "[", "\\[");
  return replaced(out, "]", "\\]");
}

std::string zsh_value(const OptionSpec& option) {
  if (option.value.empty()) return {};
  const auto words = value_words(option);
  const std::string action = !words.empty() ? concat("(", joined(words), ")") : option.kind == ValueKind::file ? "_files" : " ";
  return concat(":", zsh_text(option.value), ":", action);
}

std::string zsh_option(const OptionSpec& option) {
  const std::string rest = concat("'[", zsh_text(option.help), "]", zsh_value(option), "'");
  const std::string_view equals = option.value.empty() ? "" : "=";
  const std::string once = option.letter ? concat("'(-", option.letter, " ", option.name, ")'") : std::string();
  const std::string front = option.repeatable ? "'*'" : once;
  if (!option.letter) return concat(front, option.name, equals, rest);
  return concat(front, "{-", option.letter, option.value.empty() ? "" : "+", ",", option.name, equals, "}", rest);
}

std::string fish_text(std::string_view text) { return concat("'", replaced(replaced(text, "\\", "\\\\"), "'", "\\'"), "'"); }

std::string fish_option(const Command& command, const OptionSpec& option) {
  std::string line =
      concat("complete -c attn-cli -n '__fish_seen_subcommand_from ", command.name, "' -l ", option.name.substr(2));
  if (option.letter) line += concat(" -s ", option.letter);
  const auto words = value_words(option);
  if (!words.empty()) {
    line += concat(" -x -a ", fish_text(joined(words)));
  } else if (option.kind == ValueKind::file) {
    line += " -r -F";
  } else if (!option.value.empty()) {
    line += " -x";
  }
  return concat(line, " -d ", fish_text(option.help), "\n");
}

std::string input_words(const Command& command) { return joined({command.input_choices.begin(), command.input_choices.end()}); }

constexpr std::string_view kBashHelpers = R"(# Tab completion of attn-cli for bash; made by `attn-cli completion bash`.
_attn_cli_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_attn_cli_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}
_attn_cli() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options=
  COMPREPLY=()
  # "--option=value" comes as three words.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
)";

}  // namespace

std::vector<std::string> value_words(const OptionSpec& option) {
  if (option.kind == ValueKind::colormap) return colormap_names();
  return {option.choices.begin(), option.choices.end()};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash_completion() {
  std::string names;
  for (const Command& command : commands()) names += concat(command.name, " ");
  std::string out =
      concat(kBashHelpers, "  if ((COMP_CWORD == 1)); then _attn_cli_words \"", names, "--help --version\"; return; fi\n");
  out += "  case \"$command $prev\" in\n";
  for (const Command& command : commands()) append_bash_values(out, command);
  out += "  esac\n  case \"$command\" in\n";
  for (const Command& command : commands()) out += concat("    ", command.name, ") options=\"", bash_names(command), "\";;\n");
  out += "  esac\n  if [[ $cur == -* ]]; then _attn_cli_words \"$options\"; return; fi\n  case \"$command\" in\n";
  for (const Command& command : commands()) {
    if (!command.input_choices.empty()) {
      out += concat("    ", command.name, ") _attn_cli_words \"", input_words(command), "\";;\n");
    } else if (command.max_inputs > 0) {
      out += concat("    ", command.name, ") _attn_cli_files;;\n");
    }
  }
  return out + "  esac\n}\ncomplete -F _attn_cli attn-cli\n";
}

std::string zsh_completion() {
  std::string out =
      "#compdef attn-cli\n# Tab completion of attn-cli for zsh; made by `attn-cli completion zsh`.\n_attn_cli() {\n"
      "  local -a subcommands\n  subcommands=(\n";
  for (const Command& command : commands()) out += concat("    '", command.name, ":", zsh_text(command.summary), "'\n");
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe subcommand subcommands\n    _values option --help --version\n    "
      "return\n  fi\n"
      "  local subcommand=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $subcommand in\n";
  for (const Command& command : commands()) {
    out += concat("    ", command.name, ")\n      _arguments -s -S");
    for (const OptionSpec& option : all_options(command)) out += concat(" \\\n        ", zsh_option(option));
    if (!command.input_choices.empty()) {
      out += concat(" \\\n        '1:input:(", input_words(command), ")'");
    } else if (command.max_inputs > 0) {
      out += " \\\n        '*:input:_files'";
    }
    out += " ;;\n";
  }
  return out + "  esac\n}\nif [[ $funcstack[1] == _attn-cli ]]; then _attn_cli \"$@\"; else compdef _attn_cli attn-cli; fi\n";
}

std::string fish_completion() {
  std::string out =
      "# Tab completion of attn-cli for fish; made by `attn-cli completion fish`.\n"
      "complete -c attn-cli -n __fish_use_subcommand -f\n"
      "complete -c attn-cli -n __fish_use_subcommand -l help -s h -d 'print this help'\n"
      "complete -c attn-cli -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const Command& command : commands()) {
    out += concat("complete -c attn-cli -n __fish_use_subcommand -f -a ", command.name, " -d ", fish_text(command.summary), "\n");
    const std::string condition = concat("complete -c attn-cli -n '__fish_seen_subcommand_from ", command.name, "' -f");
    if (!command.input_choices.empty()) out += concat(condition, " -a ", fish_text(input_words(command)), "\n");
    if (command.max_inputs == 0) out += condition + "\n";
    for (const OptionSpec& option : all_options(command)) out += fish_option(command, option);
  }
  return out;
}

}  // namespace attn::app
