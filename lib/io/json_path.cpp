#include "io/json_path.hpp"

#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kLongestPointer = 130;  // room for a name of 60 characters with each of them escaped

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
  std::string pointer;
  for (std::size_t i = 0; i < depth; ++i)
    pointer += "/" + (levels_[i].is_object ? pointer_part(levels_[i].name) : std::to_string(levels_[i].count));
  if (pointer.size() > kLongestPointer) {
    // The last names tell more than the first ones.
    const std::size_t cut = pointer.find('/', pointer.size() - kLongestPointer);
    pointer = "/..." + (cut == std::string::npos ? "/" + std::to_string(depth) + " levels deep" : pointer.substr(cut));
  }
  return pointer.empty() ? file_ : file_ + ":" + pointer;
}

}  // namespace v1
}  // namespace attn
