#include "app/json_text.hpp"

#include <cmath>

#include "attn/base/text.hpp"

namespace attn::app {

void JsonText::item(std::string_view name) {
  if (levels_.empty()) return;
  if (!levels_.back().empty) text_ += ',';
  levels_.back().empty = false;
  text_ += '\n' + std::string(2 * levels_.size(), ' ');
  if (levels_.back().close == ']') return;
  append_json_string(text_, name);
  text_ += ": ";
}

JsonText& JsonText::begin_object(std::string_view name) {
  item(name);
  text_ += '{';
  levels_.push_back({'}', true});
  return *this;
}

JsonText& JsonText::begin_array(std::string_view name) {
  item(name);
  text_ += '[';
  levels_.push_back({']', true});
  return *this;
}

JsonText& JsonText::end() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty) text_ += '\n' + std::string(2 * levels_.size(), ' ');
  text_ += level.close;
  return *this;
}

JsonText& JsonText::text(std::string_view name, std::string_view value) {
  item(name);
  append_json_string(text_, value);
  return *this;
}

JsonText& JsonText::number(std::string_view name, double value) {
  item(name);
  if (std::isfinite(value)) {
    append_number(text_, value);
  } else {
    append_json_string(text_, format_number(value));
  }
  return *this;
}

JsonText& JsonText::integer(std::string_view name, Index value) {
  item(name);
  text_ += std::to_string(value);
  return *this;
}

JsonText& JsonText::boolean(std::string_view name, bool value) {
  item(name);
  text_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::indices(std::string_view name, const Shape& values) {
  item(name);
  text_ += shape_text(values);
  return *this;
}

std::string JsonText::take() {
  text_ += '\n';
  return std::move(text_);
}

}  // namespace attn::app
