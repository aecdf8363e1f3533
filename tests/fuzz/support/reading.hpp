#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/io/array_file.hpp"

namespace attn::fuzz {

/// All that a file holds.
struct Contents {
  std::vector<Member> members;
  std::vector<Array> arrays;  ///< as many as members; empty for those of other kinds

  /// The only member, which must be an array.
  const Array& only() const { return arrays.at(0); }
};

/// How bytes reach the reader.
enum class Feed { file, pipe };

/// Reads everything in a file with these bytes, whole and by rows, within a budget; nothing when it is refused, which
/// must be orderly. `refusal` becomes the message. No byte touches a disk.
std::optional<Contents> read_contents(std::string_view bytes, const ReadOptions& options, std::string* refusal = nullptr,
                                      Feed feed = Feed::file);

/// Reads the bytes as a file and, for one input in eight, as a pipe, which must give the same.
std::optional<Contents> read_both_ways(std::string_view bytes, const ReadOptions& options, std::string* refusal = nullptr);

/// Whether two arrays have the same shape and, as float64, the same bits; -0 and 0, and all NaNs, count as the same.
bool same_numbers(const Array& a, const Array& b);
/// Ends the process unless both hold the same.
void require_same(const Contents& a, const Contents& b, std::string_view what);

/// The array as the library writes it in this format, read again: the numbers and, where the format keeps them, the
/// labels must be the same. NaN payloads and the sign of 0 need not survive text.
void require_round_trip(std::string_view format, const Member& member, const Array& array);

}  // namespace attn::fuzz
