#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/error.hpp"

namespace attn::app {

/// "did you mean 'weights'?", or nothing if no candidate is near enough. The one helper behind every suggestion:
/// subcommands, options, values, colormaps, members of files.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// "a, b or c"; at most `limit` of them, then "...".
std::string word_list(std::span<const std::string> words, std::size_t limit = 12);

/// Views as strings, for the two above.
std::vector<std::string> as_strings(std::span<const std::string_view> views);

}  // namespace attn::app
