#include "io/json_path.hpp"

#include "attn/base/text.hpp"

namespace attn {
namespace {

constexpr std::size_t kLongestName = 60;

/// A name as part of a JSON pointer (RFC 6901).
std::string pointer_part(std::string_view name) {
  std::string part;
  for (const char c : printable(name, kLongestName)) {
    if (c == '~')
      part += "~0";
    else if (c == '/')
      part += "~1";
    else
      part += c;
  }
  return part;
}

}  // namespace

void JsonPath::push(bool is_object) {
  Level& level = levels_.at(depth_++);
  level.is_object = is_object;
  level.count = 0;
  level.names.clear();
}

void JsonPath::name(const std::string& name) {
  Level& level = top();
  level.name = name;
  if (!level.names.insert(name).second) fail_here("the name '", printable(name, kLongestName), "' stands here twice");
}

std::string JsonPath::place_below(std::size_t depth) const {
  std::string text = file_;
  // In a document with thousands of levels of long names the last ones tell the place.
  for (std::size_t i = 0; i < depth; ++i) {
    text += i == 0 ? ":/" : "/";
    text += levels_[i].is_object ? pointer_part(levels_[i].name) : std::to_string(levels_[i].count);
  }
  return text;
}

}  // namespace attn
