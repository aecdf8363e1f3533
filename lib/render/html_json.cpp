#include "render/html_json.hpp"

#include <cmath>

#include "attn/base/text.hpp"
#include "render/label_text.hpp"

namespace attn {
inline namespace v1 {
namespace {

void append_json_number(std::string& json, double value) {
  const bool quoted = !std::isfinite(value);
  if (quoted) json += '"';
  append_number(json, value);
  if (quoted) json += '"';
}

}  // namespace

void JsonObject::key(std::string_view name) {
  if (json_.size() > 1) json_ += ',';
  append_json_string(json_, name);
  json_ += ':';
}

void JsonObject::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(json_, value);
}

void JsonObject::number(std::string_view name, double value) {
  key(name);
  append_json_number(json_, value);
}

void JsonObject::optional(std::string_view name, const std::optional<double>& value) {
  if (value)
    number(name, *value);
  else
    raw(name, "null");
}

void JsonObject::raw(std::string_view name, std::string_view json) {
  key(name);
  json_ += json;
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    append_json_string(json, text);
  }
  return json + "]";
}

std::string json_list(const std::vector<Index>& numbers) {
  std::string json = "[";
  for (const Index number : numbers) {
    if (json.size() > 1) json += ',';
    json += std::to_string(number);
  }
  return json + "]";
}

std::string json_list(const std::vector<double>& numbers) {
  std::string json = "[";
  for (const double number : numbers) {
    if (json.size() > 1) json += ',';
    append_json_number(json, number);
  }
  return json + "]";
}

std::string json_tokens(const std::vector<std::string>& tokens, bool prettify) {
  const std::vector<std::string> pretty = prettify ? prettify_labels(tokens) : tokens;
  std::vector<std::string> shown;
  shown.reserve(pretty.size());
  for (const std::string& token : pretty) shown.push_back(visible_label(token));
  JsonObject list;
  list.raw("tokens", json_list(tokens));
  if (shown != tokens) list.raw("shown", json_list(shown));
  return list.close();
}

}  // namespace v1
}  // namespace attn
