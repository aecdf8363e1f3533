#include "attn/base/array.hpp"

#include <array>
#include <limits>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

struct DTypeFacts {
  std::string_view name;
  std::size_t size;
};

// In the order of DType.
constexpr std::array<DTypeFacts, 13> kDTypes{{{"float16", 2},
                                              {"bfloat16", 2},
                                              {"float32", 4},
                                              {"float64", 8},
                                              {"int8", 1},
                                              {"int16", 2},
                                              {"int32", 4},
                                              {"int64", 8},
                                              {"uint8", 1},
                                              {"uint16", 2},
                                              {"uint32", 4},
                                              {"uint64", 8},
                                              {"bool", 1}}};

const DTypeFacts& facts(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t item_size(DType dtype) { return facts(dtype).size; }

std::string_view dtype_name(DType dtype) { return facts(dtype).name; }

Index Array::size() const {
  Index size = 1;
  for (const Index axis : shape) size *= axis;
  return size;
}

Index checked_size(const Shape& shape, std::string_view what) {
  // An axis of zero hides an overflow of the others from the plain product: (0, 2^62, 2^62) is refused as well.
  Index size = 1;
  bool empty = false;
  for (const Index axis : shape) {
    if (axis < 0) fail(ErrorKind::malformed, what, ": shape ", shape_text(shape), " has a negative axis");
    if (axis == 0)
      empty = true;
    else if (__builtin_mul_overflow(size, axis, &size))
      fail(ErrorKind::malformed, what, ": shape ", shape_text(shape), " has more elements than can be counted");
  }
  return empty ? 0 : size;
}

std::size_t checked_bytes(const Shape& shape, DType dtype, std::string_view what) {
  const Index size = checked_size(shape, what);
  Index bytes = 0;
  if (__builtin_mul_overflow(size, static_cast<Index>(item_size(dtype)), &bytes))
    fail(ErrorKind::malformed, what, ": shape ", shape_text(shape), " has more bytes than can be counted");
  return static_cast<std::size_t>(bytes);
}

Array make_array(DType dtype, Shape shape, const MemoryBudget& budget, std::string_view what) {
  Buffer bytes = budget.allocate(checked_bytes(shape, dtype, what), what);
  return {dtype, std::move(shape), std::move(bytes)};
}

Array convert_array(const Array& array, DType target, const MemoryBudget& budget, std::string_view what) {
  if (target != DType::f32 && target != DType::f64) fail(ErrorKind::internal, "arrays are converted to float32 or float64 only");
  Array converted = make_array(target, array.shape, budget, what);
  if (target == DType::f32)
    convert_elements(array.dtype, array.bytes.data(), array.size(), converted.data<float>());
  else
    convert_elements(array.dtype, array.bytes.data(), array.size(), converted.data<double>());
  return converted;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ',';
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace v1
}  // namespace attn
