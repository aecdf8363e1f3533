#pragma once

#include <string>
#include <string_view>

#include "io/safetensors_header.hpp"

namespace attn {
inline namespace v1 {

/// Reads the JSON of a header as it stands; whether it fits the data is not looked at. Types are names still unknown.
struct RawTensor {
  std::string name;
  std::string dtype;
  Shape shape;
  std::vector<Index> offsets;
};

struct RawHeader {
  std::vector<RawTensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Throws `malformed` for what is not JSON, has a name twice or is not of the form that the format demands.
RawHeader parse_safetensors_json(std::string_view json, const std::string& file);

}  // namespace v1
}  // namespace attn
