#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/base/memory.hpp"

namespace attn {
inline namespace v1 {

/// Counts and places of elements, signed so that differences are safe.
using Index = std::int64_t;
/// Lengths of the axes, outermost first; empty for a scalar.
using Shape = std::vector<Index>;

/// Element types that files may hold. Attention is computed in f32 or f64.
enum class DType : std::uint8_t { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Bytes of one element: 1 to 8.
std::size_t item_size(DType dtype);
/// "float32", "bfloat16", "int64", "bool", ...
std::string_view dtype_name(DType dtype);

/// The element type of a float or a double.
template <typename T>
inline constexpr DType kDTypeOf = DType::f64;
/// That of a float.
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;

/// An array in C order that owns its bytes (native byte order, 64-byte aligned).
struct Array {
  DType dtype = DType::f64;
  Shape shape;
  Buffer bytes;

  /// Number of axes.
  Index rank() const { return static_cast<Index>(shape.size()); }
  /// Number of elements: 1 for a scalar, 0 if any axis is 0.
  Index size() const;

  /// The first element as a T. Not checked: T must be what `dtype` says.
  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  /// The same, read-only.
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

/// Product of the axes, every step checked. Throws `malformed` with `what` in front on overflow or a negative axis.
Index checked_size(const Shape& shape, std::string_view what);
/// checked_size times the item size, checked too: throws `malformed` when the bytes cannot be counted.
std::size_t checked_bytes(const Shape& shape, DType dtype, std::string_view what);

/// An uninitialised array within the budget; `what` names it in the refusal. Throws `memory` when it does not fit,
/// `malformed` like checked_bytes.
Array make_array(DType dtype, Shape shape, const MemoryBudget& budget, std::string_view what);
/// A copy with another element type (f32 or f64); exact where the target can hold the value, else rounded to nearest.
/// Throws `memory` like make_array, `internal` for another target.
Array convert_array(const Array& array, DType target, const MemoryBudget& budget, std::string_view what);
/// Converts `count` packed elements in native byte order, aligned or not, to float: rounded to nearest, too large ones to
/// infinity.
void convert_elements(DType from, const std::byte* source, Index count, float* target);
/// The same to double: exact but for 64-bit integers beyond 2^53.
void convert_elements(DType from, const std::byte* source, Index count, double* target);

/// "[2,3]", "[]" for a scalar.
std::string shape_text(const Shape& shape);

}  // namespace v1
}  // namespace attn
