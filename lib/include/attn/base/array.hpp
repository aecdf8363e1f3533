#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/memory.hpp"

namespace attn {
inline namespace v1 {

using Index = std::int64_t;
using Shape = std::vector<Index>;

/// Element types that files may hold. Attention is computed in f32 or f64.
enum class DType : std::uint8_t { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Bytes of one element.
std::size_t item_size(DType dtype);
/// "float32", "bfloat16", "int64", "bool", ...
std::string_view dtype_name(DType dtype);

template <typename T>
inline constexpr DType kDTypeOf = DType::f64;
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;

/// An array in C order that owns its bytes (native byte order, 64-byte aligned).
struct Array {
  DType dtype = DType::f64;
  Shape shape;
  Buffer bytes;

  Index rank() const { return static_cast<Index>(shape.size()); }
  /// Number of elements: 1 for a scalar, 0 if any axis is 0.
  Index size() const;

  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

/// Product of the axes, every step checked. Throws `malformed` with `what` in front on overflow or a negative axis.
Index checked_size(const Shape& shape, std::string_view what);
/// checked_size times the item size, checked too.
std::size_t checked_bytes(const Shape& shape, DType dtype, std::string_view what);

/// An uninitialised array within the budget; `what` names it in the refusal.
Array make_array(DType dtype, Shape shape, const MemoryBudget& budget, std::string_view what);
/// A copy with another element type (f32 or f64); exact where the target can hold the value, else rounded to nearest.
Array convert_array(const Array& array, DType target, const MemoryBudget& budget, std::string_view what);
/// Converts `count` packed elements to float or double.
void convert_elements(DType from, const std::byte* source, Index count, float* target);
void convert_elements(DType from, const std::byte* source, Index count, double* target);

/// "[2,3]", "[]" for a scalar.
std::string shape_text(const Shape& shape);

}  // namespace v1
}  // namespace attn
