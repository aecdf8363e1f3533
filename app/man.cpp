#include <algorithm>

#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/help.hpp"
#include "attn/base/error.hpp"
#include "version.hpp"

namespace attn::app {
namespace {

/// Text of a roff document: what roff would take as its own is escaped.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) out += "\\&";
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void append_option(std::string& out, const OptionSpec& option) {
  out += ".TP\n";
  if (option.letter) out += concat("\\fB\\-", option.letter, "\\fR, ");
  out += concat("\\fB", roff(option.name), "\\fR");
  if (!option.value.empty()) out += concat(" \\fI", roff(option.value), "\\fR");
  out += concat("\n", roff(option_text(option)), "\n");
}

void append_examples(std::string& out, const std::vector<std::string_view>& examples) {
  for (const std::string_view example : examples) out += concat(".PP\n.nf\n.RS\n", roff(example), "\n.RE\n.fi\n");
}

void append_command(std::string& out, const Command& command) {
  out += concat(".SS ", roff(command.usage), "\n", roff(command.summary), ".\n");
  if (!command.description.empty()) out += concat(".PP\n", roff(command.description), "\n");
  append_examples(out, command.examples);
  for (const std::string_view group : option_groups(command.options)) {
    out += concat(".PP\n\\fI", roff(group), "\\fR\n");
    for (const OptionSpec& option : command.options)
      if (option.group == group) append_option(out, option);
  }
}

std::string man_page() {
  std::string out = concat(".TH ATTN\\-CLI 1 \"\" \"attn\\-cli ", roff(kVersion), "\" \"User Commands\"\n.SH NAME\n",
                           "attn\\-cli \\- exact attention weights and their pictures\n.SH SYNOPSIS\n",
                           "\\fBattn\\-cli\\fR \\fISUBCOMMAND\\fR [\\fIoptions\\fR] [\\fIinputs\\fR]\n.SH DESCRIPTION\n");
  out += roff(
      "attn-cli computes attention exactly, from matrices or token embeddings, and draws it. - is standard input or "
      "output; -- ends the options; @FILE reads a text or a list from a file; ARCHIVE:NAME is one array of an archive.");
  out += "\n.SH SUBCOMMANDS\n";
  for (const Command& command : commands()) append_command(out, command);
  out += ".SH COMMON OPTIONS\n";
  for (const OptionSpec& option : common_options()) append_option(out, option);
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& code : exit_codes()) out += concat(".TP\n\\fB", code.code, "\\fR\n", roff(code.meaning), "\n");
  out +=
      concat(".SH ENVIRONMENT\n.TP\n\\fBATTN_CLI_SIMD\\fR\n", roff("sse2, avx2, avx512 or neon: forces the instruction set"),
             "\n.TP\n\\fBATTN_CLI_COLORMAP\\fR, \\fB_THEME\\fR, \\fB_FONT\\fR, \\fB_DPI\\fR, \\fB_COLOR\\fR, \\fB_PROGRESS\\fR, "
             "\\fB_THREADS\\fR, \\fB_MAX_MEMORY\\fR\n",
             roff("defaults of the options with these names"), "\n.TP\n\\fBNO_COLOR\\fR\n",
             roff("no colours, unless --color says so"), "\n.SH FILES\n.TP\n\\fI$XDG_CONFIG_HOME/attn\\-cli/config.json\\fR\n",
             roff("the same defaults as a JSON object: {\"colormap\": \"magma\", \"threads\": 4}"), "\n");
  return out;
}

int run_man(const Words&, Console& console) {
  console.print(man_page());
  if (console.output_is_terminal()) console.note("attn-cli man | man -l - shows it as a page");
  return 0;
}

}  // namespace

const Command& man_command() {
  static const Command command{.name = "man",
                               .summary = "print the man page",
                               .usage = "man",
                               .examples = {"attn-cli man | man -l -", "attn-cli man > attn-cli.1"},
                               .run = run_man};
  return command;
}

}  // namespace attn::app
