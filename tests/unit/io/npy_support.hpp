#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/array.hpp"
#include "attn/io/array_file.hpp"

namespace attn {

/// How a .npy deviates from the plain one.
struct NpyForm {
  int version = 1;
  std::size_t total = 0;  ///< bytes of preamble and header; 0: padded to 64
  long claimed = -1;      ///< header length that is claimed; -1: the true one
};

inline std::string npy_dict(const std::string& shape = "(2, 3)", const std::string& descr = "<f4",
                            const std::string& fortran_order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }";
}

/// A .npy built by hand from the text of its header and its data.
inline std::string npy_file(std::string dict, const std::string& data, NpyForm form = {}) {
  const std::size_t start = form.version == 1 ? 10 : 12;
  const std::size_t total = form.total != 0 ? form.total : (start + dict.size() + 1 + 63) / 64 * 64;
  if (total > start + dict.size() + 1) dict.append(total - start - dict.size() - 1, ' ');
  dict += '\n';
  auto length = form.claimed >= 0 ? static_cast<std::size_t>(form.claimed) : dict.size();
  std::string file = "\x93NUMPY";
  file += static_cast<char>(form.version);
  file += '\0';
  for (std::size_t i = 8; i < start; ++i, length >>= 8) file += static_cast<char>(length & 0xff);
  return file + dict + data;
}

/// Little-endian float32.
inline std::string f4(const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) {
    const float narrow = static_cast<float>(value);
    bytes.append(reinterpret_cast<const char*>(&narrow), 4);
  }
  return bytes;
}

/// A member read whole.
inline std::vector<double> all_numbers(ArrayFile& file, std::size_t member) {
  const MemoryBudget budget;
  const Array array = convert_array(file.read(member, budget), DType::f64, budget, "x");
  return {array.data<double>(), array.data<double>() + array.size()};
}

/// A member read by blocks of rows.
inline std::vector<double> all_rows(ArrayFile& file, std::size_t member, Index block) {
  const Shape& shape = file.members()[member].shape;
  const Index width = shape.empty() ? 1 : shape.back();
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
  std::vector<double> numbers(static_cast<std::size_t>(rows * width));
  for (Index row = 0; row < rows; row += block)
    file.read_rows(member, row, std::min(block, rows - row), numbers.data() + row * width);
  return numbers;
}

}  // namespace attn
