#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::fuzz {

/// Ends the process when an invariant does not hold: the fuzzer keeps the input, a replay fails.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "broken invariant: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// Whether `printable` would leave the text as it is; plain ASCII is seen at a glance.
inline bool is_printable(std::string_view text) {
  for (const char c : text)
    if (c < 0x20 || c > 0x7e) return printable(text, std::string::npos) == text;
  return true;
}

/// A refusal must be of one of these kinds, on one line of at most 300 bytes that can be printed as it is.
inline void require_orderly(const Error& error, std::initializer_list<ErrorKind> kinds) {
  bool known = false;
  for (const ErrorKind kind : kinds) known = known || error.kind() == kind;
  require(known, concat("an error of kind ", static_cast<int>(error.kind()), ": ", error.message()));
  require(!error.message().empty(), "an error without a message");
  require(error.message().size() <= 300, concat("a message of ", error.message().size(), " bytes: ", error.message()));
  require(is_printable(error.message()), "a message that cannot be printed: " + error.message());
  require(error.hint().size() <= 300, "a long hint: " + error.hint());
}

/// What a file of a stranger may be refused with.
inline constexpr std::initializer_list<ErrorKind> kRefusals{ErrorKind::malformed, ErrorKind::mismatch, ErrorKind::memory};

}  // namespace attn::fuzz
