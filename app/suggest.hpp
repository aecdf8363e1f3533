#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/text.hpp"

namespace attn::app {

/// "a, b or c"; at most `limit` of them, then "...".
std::string word_list(std::span<const std::string> words, std::size_t limit = 12);

/// Views as strings, for word_list and did_you_mean.
std::vector<std::string> as_strings(std::span<const std::string_view> views);

}  // namespace attn::app
