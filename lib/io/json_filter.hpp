#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/text_window.hpp"

namespace attn {
inline namespace v1 {

/// How deep lists and objects may be nested in each other.
inline constexpr std::size_t kDeepestJson = 64;

/// A number met in JSON text.
struct JsonNumber {
  double value = 0;
  bool in_range = true;   ///< false: its magnitude is beyond double
  std::string_view text;  ///< as written; valid until the next byte is asked for
};

/// Feeds JSON text to the parser, which sees every number as a plain 0: numbers are read here, straight from the text,
/// and fetched by the handler of the parser's events with `number()`. So bare NaN, Infinity and -Infinity are numbers
/// too, and a number costs the parser one byte however many digits it has. Blanks are left out. Knows where in the file
/// the parser is and what could stand there, for messages.
class JsonFilter {
 public:
  JsonFilter(FileReader& file, const RunContext& run);

  bool at_end() { return given_ == given_end_ && !give_more(); }
  char peek() const { return *given_; }
  void pop() { ++given_; }

  /// The number that the parser saw last.
  const JsonNumber& number() const { return number_; }

  /// Throws `malformed` at the token that the parser saw last: what stands there, and what was expected.
  [[noreturn]] void fail_unexpected() const;
  /// Throws `malformed` at the byte that the parser saw last.
  [[noreturn]] void fail_at_byte(std::string_view what) const;
  /// Throws `malformed` at the token that the parser saw last.
  [[noreturn]] void fail_at_token(std::string_view what) const;

 private:
  /// What may come next, outside strings.
  enum class Expect { value, value_or_end, name, name_or_end, colon, comma_or_end, nothing };
  struct Place {
    std::uint64_t line = 1;
    std::uint64_t column = 1;  // in characters
  };

  bool give_more();
  bool skip_blanks();
  void give(std::size_t count);
  bool give_string_part();
  void give_word();
  void give_number();
  void give_placeholder(std::size_t length);
  bool read_number();
  std::string_view word();
  void advance(char token);
  void after_value();
  Place place_of_next() const;
  std::string at(const Place& place) const;
  std::string at_token() const;
  std::string_view expected() const;

  TextWindow window_;
  const char* given_ = nullptr;  // [given_, given_end_) is what the parser may take
  const char* given_end_ = nullptr;
  JsonNumber number_;
  bool in_string_ = false;
  bool escaped_ = false;  // the last byte given was the backslash of an escape
  std::size_t string_bytes_ = 0;

  std::vector<bool> open_;  // the lists (false) and objects (true) that the next token stands in
  Expect expect_ = Expect::value;

  // The token that the parser saw last, and what was expected in its place.
  std::string_view token_;  // empty at the end of the file
  Place token_place_;
  Expect token_expect_ = Expect::value;
  bool token_in_object_ = false;

  std::uint64_t line_ = 1;
  std::uint64_t line_start_ = 0;     // offset of the line's first byte
  std::uint64_t continuations_ = 0;  // bytes of the line that continue a UTF-8 character
};

}  // namespace v1
}  // namespace attn
