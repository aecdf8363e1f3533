#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attn/base/array.hpp"

namespace attn::app {

/// A JSON text built piece by piece: commas and indentation follow from the nesting. Names are written before values
/// in objects; numbers that JSON has no word for are the strings "NaN", "Infinity" and "-Infinity".
class JsonText {
 public:
  JsonText& begin_object(std::string_view name = {});
  JsonText& begin_array(std::string_view name = {});
  JsonText& end();
  JsonText& text(std::string_view name, std::string_view value);
  JsonText& number(std::string_view name, double value);
  JsonText& integer(std::string_view name, Index value);
  JsonText& boolean(std::string_view name, bool value);
  JsonText& indices(std::string_view name, const Shape& values);
  /// The finished text, with a newline at its end.
  std::string take();

 private:
  void item(std::string_view name);

  struct Level {
    char close;
    bool empty;
  };
  std::vector<Level> levels_;
  std::string text_;
};

}  // namespace attn::app
