#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

#include "attn/base/error.hpp"
#include "io/json_filter.hpp"

namespace attn {
inline namespace v1 {

/// Where in a JSON document the reader stands, for messages: "doc.json:/query/2".
class JsonPath {
 public:
  /// One list or object that is open.
  struct Level {
    bool is_object = false;
    Index count = 0;   ///< values that are complete
    std::string name;  ///< of an object: the name of the value that is being read
    std::unordered_set<std::string> names;
  };

  explicit JsonPath(std::string file) : file_(std::move(file)) {}

  std::size_t depth() const { return depth_; }
  Level& top() { return levels_[depth_ - 1]; }
  const Level& top() const { return levels_[depth_ - 1]; }

  /// The filter refuses what is nested deeper than kDeepestJson before it comes here.
  void push(bool is_object);
  void pop() { --depth_; }
  /// Throws `malformed` for a name that the object has already.
  void name(const std::string& name);
  void count_value() {
    if (depth_ > 0) ++top().count;
  }

  /// "doc.json:/query/2" for the value that is being read; the file alone at the top. Long pointers lose their beginning.
  std::string place() const { return place_below(depth_); }
  /// The place of the innermost list or object.
  std::string place_of_top() const { return place_below(depth_ - 1); }

  /// Throws `malformed` at the value that is being read.
  template <typename... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail(ErrorKind::malformed, place(), ": ", parts...);
  }

 private:
  std::string place_below(std::size_t depth) const;

  std::string file_;
  std::size_t depth_ = 0;
  std::array<Level, kDeepestJson> levels_;
};

}  // namespace v1
}  // namespace attn
