#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// Where the bytes of one .npy come from: a file, or a member of an archive, which is read fastest forward.
class NpySource {
 public:
  virtual ~NpySource() = default;
  /// kUnknownSize for a long stream, whose end is not waited for.
  virtual std::uint64_t size() = 0;
  /// Exactly `count` bytes from `offset`, or a `malformed` error.
  virtual void read_at(std::uint64_t offset, void* target, std::size_t count) = 0;
};

/// The element type of a .npy as its header spells it ("<f4").
struct NpyType {
  enum class Content { numbers, unicode, bytes };
  Content content = Content::numbers;
  DType dtype = DType::f64;  ///< of numbers
  std::size_t item = 8;      ///< bytes of one element: of text, of all its characters
  bool swapped = false;      ///< the other byte order than this machine's
};

/// What the header of a .npy says.
struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  Shape shape;
  std::uint64_t data_offset = 0;
};

/// Rank that is read at most.
inline constexpr std::size_t kMostNpyAxes = 8;

/// Reads and checks a header; the data behind it must have exactly the size that it asks for, if the size of the source
/// is known. Throws `malformed` naming `where`, what was found, what was expected.
NpyHeader read_npy_header(NpySource& source, const std::string& where);
/// Throws `malformed` unless a file of `size` bytes has as much data as its header asks for.
void check_npy_size(const NpyHeader& header, std::uint64_t size, const std::string& where);

/// Reads the Python dict literal of a header (format version 1 to 3): all of NpyHeader but data_offset.
NpyHeader parse_npy_dict(std::string_view text, const std::string& where);

/// Reads a `descr` such as "<f4"; names what cannot be read.
NpyType parse_npy_type(std::string_view descr, const std::string& where);

}  // namespace v1
}  // namespace attn
