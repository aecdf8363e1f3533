#pragma once

#include <string>

#include "app/command.hpp"

namespace attn::app {

/// What `attn-cli` alone prints.
std::string short_help();
/// `attn-cli --help`: examples, the subcommands, the exit codes.
std::string main_help();
/// `attn-cli SUBCOMMAND --help`: examples first, then the options in their groups with defaults.
std::string command_help(const Command& command);
/// `--version`: version, build, SIMD in use, threads.
std::string version_text(int threads);

/// The groups of options in the order in which they first appear, the common ones last.
std::vector<std::string_view> option_groups(const std::vector<OptionSpec>& options);
/// "-w, --weights FILE".
std::string option_heading(const OptionSpec& option);
/// What the option says, the words it takes, whether it may be repeated, its default.
std::string option_text(const OptionSpec& option);

/// Exit codes and their meaning, for --help and the man page.
struct ExitCode {
  std::string_view code;
  std::string_view meaning;
};
std::span<const ExitCode> exit_codes();

}  // namespace attn::app
