#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"

namespace attn::app {

/// Scripts for Tab, from the tables of --help.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// The words that an option's value can be; empty where it is a file or anything else.
std::vector<std::string> value_words(const OptionSpec& option);
/// Joined with blanks.
std::string joined(const std::vector<std::string>& words);

}  // namespace attn::app
