#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// One JSON object, members in the order they are added.
class JsonObject {
 public:
  void text(std::string_view name, std::string_view value);
  /// What is not finite is written as text: "NaN", "Infinity", "-Infinity".
  void number(std::string_view name, double value);
  void integer(std::string_view name, Index value) { raw(name, std::to_string(value)); }
  void flag(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  /// null where there is none.
  void optional(std::string_view name, const std::optional<double>& value);
  void raw(std::string_view name, std::string_view json);
  std::string close() const { return json_ + "}"; }

 private:
  void key(std::string_view name);
  std::string json_ = "{";
};

std::string json_list(const std::vector<std::string>& texts);
std::string json_list(const std::vector<Index>& numbers);
std::string json_list(const std::vector<double>& numbers);

/// {"tokens":[...],"shown":[...]}: as given, and made visible where that differs.
std::string json_tokens(const std::vector<std::string>& tokens, bool prettify);

}  // namespace v1
}  // namespace attn
