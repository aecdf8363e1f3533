#pragma once

#include <string>
#include <vector>

#include "attn/base/error.hpp"

namespace attn::app {

/// For an error about a file that is not there: the file of its folder with the nearest name, or where an example
/// comes from. Empty for other errors.
std::string missing_file_hint(const Error& error, const std::vector<std::string>& arguments);

}  // namespace attn::app
