#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// Shortest decimal digits that read back to exactly this value; -0 as "0"; "NaN", "Infinity", "-Infinity".
void append_number(std::string& text, float value);
/// The same for a double.
void append_number(std::string& text, double value);
/// append_number as a text of its own.
std::string format_number(double value);
/// At most `digits` significant digits, for people: "0.377541".
std::string format_rounded(double value, int digits);
/// "1.5 GiB", "640 KiB", "12 bytes".
std::string format_bytes(std::size_t bytes);

/// What a strict reading of one number found.
enum class NumberStatus { ok, not_a_number, out_of_range };
/// Reads a whole text as one decimal number: an optional sign, digits, point, exponent; or nan, inf, infinity in any
/// case with an optional sign. Nothing may stand around it. Underflow gives 0 (or the subnormal), overflow out_of_range.
NumberStatus parse_number(std::string_view text, double& value);
/// A whole number without leading zeros or blanks; no value when it is anything else or does not fit.
std::optional<Index> parse_integer(std::string_view text);
/// "512M", "1.5GiB", "1000" in bytes (K, M, G, T are powers of 1024).
std::optional<std::size_t> parse_size(std::string_view text);

/// Whether the text is well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view text);
/// Byte offset of the first byte that is not well-formed UTF-8; text.size() if there is none.
std::size_t utf8_error(std::string_view text);
/// The same text with each ill-formed byte replaced by U+FFFD.
std::string to_utf8(std::string_view text);
/// For messages and terminals: control characters, ill-formed bytes, bidi controls and invisible characters are
/// written as \n, \x1b or \u202e; at most `limit` bytes, then "...".
std::string printable(std::string_view text, std::size_t limit = 200);
/// The same, but a long text keeps its end after "...": of a path the last parts tell most.
std::string printable_end(std::string_view text, std::size_t limit = 140);

/// The candidate nearest to `word` by edit distance (case-insensitive), or nothing if none is near enough to suggest.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);
/// "did you mean 'weights'?", or nothing if no candidate is near enough: the one helper behind every suggestion of a
/// name from a closed list.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// `text` quoted as JSON, ill-formed bytes as U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace v1
}  // namespace attn
