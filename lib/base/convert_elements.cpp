#include <bit>
#include <cstring>
#include <type_traits>

#include "attn/base/array.hpp"
#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t value;
};

float widen(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half.bits & 0x7fffu) << 13;
  // The exponent bias differs by 127 - 15 = 112; a product by 2^112 also brings subnormal halves to normal floats, exactly.
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const bool special = (half.bits & 0x7c00u) == 0x7c00u;  // infinity, or NaN whose payload is kept
  return std::bit_cast<float>(sign | (special ? (magnitude | 0x7f800000u) : finite));
}

float widen(BFloat value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

template <typename To, typename From>
To value_of(From element) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat>)
    return static_cast<To>(widen(element));
  else if constexpr (std::is_same_v<From, Boolean>)
    return static_cast<To>(element.value != 0);
  else
    return static_cast<To>(element);
}

/// The source may be unaligned: elements are copied out one by one, which compilers turn into plain vector loads.
template <typename From, typename To>
void convert_run(const std::byte* source, Index count, To* target) {
  for (Index i = 0; i < count; ++i) {
    From element;
    std::memcpy(&element, source + i * static_cast<Index>(sizeof(From)), sizeof(From));
    target[i] = value_of<To>(element);
  }
}

template <typename To>
void convert(DType from, const std::byte* source, Index count, To* target) {
  if (from == kDTypeOf<To>) {
    if (count > 0) std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(To));
    return;
  }
  switch (from) {
    case DType::f16:
      return convert_run<Half>(source, count, target);
    case DType::bf16:
      return convert_run<BFloat>(source, count, target);
    case DType::f32:
      return convert_run<float>(source, count, target);
    case DType::f64:
      return convert_run<double>(source, count, target);
    case DType::i8:
      return convert_run<std::int8_t>(source, count, target);
    case DType::i16:
      return convert_run<std::int16_t>(source, count, target);
    case DType::i32:
      return convert_run<std::int32_t>(source, count, target);
    case DType::i64:
      return convert_run<std::int64_t>(source, count, target);
    case DType::u8:
      return convert_run<std::uint8_t>(source, count, target);
    case DType::u16:
      return convert_run<std::uint16_t>(source, count, target);
    case DType::u32:
      return convert_run<std::uint32_t>(source, count, target);
    case DType::u64:
      return convert_run<std::uint64_t>(source, count, target);
    case DType::boolean:
      return convert_run<Boolean>(source, count, target);
  }
  fail(ErrorKind::internal, "an element type without a name");
}

}  // namespace

void convert_elements(DType from, const std::byte* source, Index count, float* target) { convert(from, source, count, target); }
void convert_elements(DType from, const std::byte* source, Index count, double* target) { convert(from, source, count, target); }

}  // namespace v1
}  // namespace attn
