#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {
inline namespace v1 {

/// How tokens are shown on pictures. Well-formed UTF-8 without characters that XML forbids (those become U+FFFD);
/// leading and trailing blanks, tabs and newlines get visible marks, an empty token is shown as the empty set sign,
/// bidi controls and invisible characters are written as \u202e; at most `limit` code points, then an ellipsis.
std::string visible_label(std::string_view token, std::size_t limit = 400);

/// Tokens with the marks of byte-level BPE, SentencePiece and WordPiece made readable: "Ġcat" and "▁cat" become "cat",
/// "Ċ" a newline, "##ing" "-ing". Byte-level tokens are decoded where the bytes are whole characters.
std::vector<std::string> prettify_labels(const std::vector<std::string>& tokens);

/// What stands beside a row or below a column: the token made visible, or the index where there are no tokens.
std::string shown_label(const std::vector<std::string>& tokens, std::size_t index);

/// Decodes the code point at `at` of well-formed UTF-8 and moves `at` behind it.
char32_t next_code_point(std::string_view utf8, std::size_t& at);
void append_code_point(std::string& utf8, char32_t code_point);

}  // namespace v1
}  // namespace attn
