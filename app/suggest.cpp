#include "app/suggest.hpp"

#include "attn/base/error.hpp"

namespace attn::app {

std::string word_list(std::span<const std::string> words, std::size_t limit) {
  std::string text;
  const std::size_t shown = words.size() > limit ? limit : words.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += printable(words[i], 60);
  }
  if (shown < words.size()) text += ", ...";
  return text;
}

std::vector<std::string> as_strings(std::span<const std::string_view> views) { return {views.begin(), views.end()}; }

}  // namespace attn::app
