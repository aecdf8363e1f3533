#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"
#include "attn/base/error.hpp"

namespace attn::app {

/// For an error about a file that is not there: the file of its folder with the nearest name, the option that has this
/// name, or where an example comes from; for an output, how to make its folder. Empty for other errors.
std::string missing_file_hint(const Error& error, const Command& command, const std::vector<std::string>& arguments);

}  // namespace attn::app
