#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// An element type of the format.
struct TensorType {
  std::string_view name;
  int bits = 0;
  std::optional<DType> dtype;  ///< none if it is not read
};

/// One tensor as the header describes it.
struct TensorEntry {
  std::string name;
  TensorType type;
  Shape shape;
  std::uint64_t begin = 0;  ///< offsets in the data, which follows the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  ///< in the order of the header
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Headers up to this size are read, as by the format's own library.
inline constexpr std::uint64_t kMostTensorHeaderBytes = 100'000'000;

/// Reads the JSON of a header and checks that the tensors fill exactly `data_size` bytes, without holes or overlaps.
/// Throws `malformed` naming `file`, the tensor, what was found, what was expected.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_size, const std::string& file);

/// How an element type is spelled ("F32").
std::string_view tensor_type_name(DType dtype);

}  // namespace v1
}  // namespace attn
