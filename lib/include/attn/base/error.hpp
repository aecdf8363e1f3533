#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace attn {
inline namespace v1 {

/// Why a run ends; the value is the exit code of the command-line tool.
enum class ErrorKind : int {
  usage = 2,      ///< the request itself is wrong: an option, a value, a conflict
  malformed = 3,  ///< an input cannot be read or is not what its format demands
  mismatch = 4,   ///< inputs are well-formed but do not fit together, or are not finite
  output = 5,     ///< an output cannot be written
  memory = 6,     ///< more memory would be needed than the limit or the machine allows
  internal = 70,  ///< a fault of ours
};

/// The one exception the library throws. `what()` is a single line without a prefix:
/// "FILE:LINE:COLUMN: what was found, what was expected".
class Error : public std::exception {
 public:
  /// `message` as what() gives it, `hint` as hint() does.
  Error(ErrorKind kind, std::string message, std::string hint = {})
      : kind_(kind), message_(std::move(message)), hint_(std::move(hint)) {}

  /// Why, for those who decide by it.
  ErrorKind kind() const noexcept { return kind_; }
  /// The message; lives as long as the exception.
  const char* what() const noexcept override { return message_.c_str(); }
  /// The same as a string.
  const std::string& message() const noexcept { return message_; }
  /// What to type instead; empty when there is nothing to suggest.
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorKind kind_;
  std::string message_;
  std::string hint_;
};

namespace detail {
inline void append_part(std::string& text, std::string_view part) { text += part; }
inline void append_part(std::string& text, const char* part) { text += part; }
inline void append_part(std::string& text, char part) { text += part; }
template <typename Number>
requires(std::is_integral_v<Number> && !std::is_same_v<Number, char>) void append_part(std::string& text, Number part) {
  text += std::to_string(part);
}
}  // namespace detail

/// Joins strings and whole numbers into one text. Format floating-point numbers with `format_number` first.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (detail::append_part(text, parts), ...);
  return text;
}

/// Throws Error with the parts joined: fail(ErrorKind::mismatch, "key has ", m, " columns; ...").
template <typename... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, concat(parts...));
}

/// Like fail, with a line that says what to do instead.
template <typename... Parts>
[[noreturn]] void fail_with_hint(ErrorKind kind, std::string hint, const Parts&... parts) {
  throw Error(kind, concat(parts...), std::move(hint));
}

}  // namespace v1
}  // namespace attn
