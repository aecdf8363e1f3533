#include "attn/base/array.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "attn/base/error.hpp"

namespace attn {
namespace {

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

template <typename From>
std::vector<double> to_double(DType dtype, std::vector<From> values) {
  std::vector<double> converted(values.size());
  convert_elements(dtype, reinterpret_cast<const std::byte*>(values.data()), static_cast<Index>(values.size()), converted.data());
  return converted;
}

TEST(Array, NamesAndSizesOfElementTypes) {
  EXPECT_EQ(dtype_name(DType::f16), "float16");
  EXPECT_EQ(dtype_name(DType::bf16), "bfloat16");
  EXPECT_EQ(dtype_name(DType::boolean), "bool");
  EXPECT_EQ(dtype_name(DType::u64), "uint64");
  EXPECT_EQ(item_size(DType::f16), 2u);
  EXPECT_EQ(item_size(DType::f64), 8u);
  EXPECT_EQ(item_size(DType::i32), 4u);
  EXPECT_EQ(item_size(DType::boolean), 1u);
}

TEST(Array, SizesAreProductsOfTheAxes) {
  EXPECT_EQ(checked_size({}, "x"), 1);
  EXPECT_EQ(checked_size({2, 3, 4}, "x"), 24);
  EXPECT_EQ(checked_size({2, 0, 4}, "x"), 0);
  EXPECT_EQ(checked_bytes({2, 3}, DType::f64, "x"), 48u);
  EXPECT_EQ(shape_text({2, 3}), "[2,3]");
  EXPECT_EQ(shape_text({}), "[]");
}

TEST(Array, ImpossibleShapesAreMalformed) {
  const Index big = Index{1} << 32;
  for (const Shape& shape : {Shape{-1}, Shape{2, -3}, Shape{big, big}, Shape{0, big, big}, Shape{big, big, 0}})
    EXPECT_EQ(kind_of([&] { checked_size(shape, "f.npy"); }), ErrorKind::malformed) << shape_text(shape);
  EXPECT_EQ(kind_of([&] { checked_bytes({(Index{1} << 62) + 1}, DType::f32, "x"); }), ErrorKind::malformed);
  try {
    checked_size({2, -3}, "f.npy");
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "f.npy: shape [2,-3] has a negative axis");
  }
}

TEST(Array, AllocationObeysTheBudget) {
  EXPECT_EQ(kind_of([] { make_array(DType::f64, {1000, 1000}, MemoryBudget(1 << 20), "x"); }), ErrorKind::memory);
  const Array array = make_array(DType::f32, {3, 5}, MemoryBudget(60), "x");
  EXPECT_EQ(array.size(), 15);
  EXPECT_EQ(array.rank(), 2);
  EXPECT_EQ(array.bytes.size(), 60u);
}

// IEEE 754 binary16 spelled out: sign, exponent with bias 15, ten bits of fraction.
double half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

TEST(Array, EveryHalfIsExact) {
  std::vector<std::uint16_t> patterns(65536);
  for (unsigned i = 0; i < 65536; ++i) patterns[i] = static_cast<std::uint16_t>(i);
  std::vector<float> floats(65536);
  convert_elements(DType::f16, reinterpret_cast<const std::byte*>(patterns.data()), 65536, floats.data());
  const std::vector<double> doubles = to_double(DType::f16, patterns);
  for (unsigned i = 0; i < 65536; ++i) {
    const double right = half_value(i);
    if (std::isnan(right)) {
      ASSERT_TRUE(std::isnan(floats[i]) && std::isnan(doubles[i])) << i;
      continue;
    }
    ASSERT_EQ(std::bit_cast<std::uint64_t>(doubles[i]), std::bit_cast<std::uint64_t>(right)) << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::bit_cast<std::uint32_t>(static_cast<float>(right))) << i;
  }
}

TEST(Array, BFloatIsTheUpperHalfOfAFloat) {
  const auto values = to_double<std::uint16_t>(DType::bf16, {0x3f80, 0xc000, 0x0001, 0x7f80, 0x8000, 0x3eab});
  EXPECT_EQ(values[0], 1.0);
  EXPECT_EQ(values[1], -2.0);
  EXPECT_EQ(values[2], std::ldexp(1.0, -133));  // a subnormal float
  EXPECT_EQ(values[3], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(values[4] == 0.0 && std::signbit(values[4]));
  EXPECT_EQ(values[5], 0.333984375);
}

TEST(Array, WholeNumbersAndBooleans) {
  EXPECT_EQ(to_double<std::int8_t>(DType::i8, {-128, 127}), (std::vector<double>{-128, 127}));
  EXPECT_EQ(to_double<std::uint8_t>(DType::u8, {200}), (std::vector<double>{200}));
  EXPECT_EQ(to_double<std::int16_t>(DType::i16, {-32768}), (std::vector<double>{-32768}));
  EXPECT_EQ(to_double<std::uint16_t>(DType::u16, {65535}), (std::vector<double>{65535}));
  EXPECT_EQ(to_double<std::int32_t>(DType::i32, {INT32_MIN}), (std::vector<double>{-2147483648.0}));
  EXPECT_EQ(to_double<std::uint32_t>(DType::u32, {UINT32_MAX}), (std::vector<double>{4294967295.0}));
  // 2^53 + 1 is half-way between two doubles: to even.
  EXPECT_EQ(to_double<std::int64_t>(DType::i64, {-7, 9007199254740993}), (std::vector<double>{-7, 9007199254740992}));
  EXPECT_EQ(to_double<std::uint64_t>(DType::u64, {UINT64_MAX}), (std::vector<double>{18446744073709551616.0}));
  EXPECT_EQ(to_double<std::uint8_t>(DType::boolean, {0, 1}), (std::vector<double>{0, 1}));
}

TEST(Array, DoublesAreRoundedToTheNearestFloat) {
  const std::vector<double> values{0.1, 1e-46, 3.4e39, -1e-45, 16777217.0};
  std::vector<float> floats(values.size());
  convert_elements(DType::f64, reinterpret_cast<const std::byte*>(values.data()), 5, floats.data());
  EXPECT_EQ(floats[0], 0.1f);
  EXPECT_EQ(floats[1], 0.0f);
  EXPECT_EQ(floats[2], std::numeric_limits<float>::infinity());
  EXPECT_EQ(floats[3], -std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(floats[4], 16777216.0f);
}

TEST(Array, UnalignedSourcesAreFine) {
  std::vector<std::byte> bytes(1 + 3 * sizeof(double));
  const double values[3] = {1.5, -2.25, 1e300};
  std::memcpy(bytes.data() + 1, values, sizeof values);
  double copy[3];
  convert_elements(DType::f64, bytes.data() + 1, 3, copy);
  EXPECT_EQ(copy[2], 1e300);
  const std::int32_t whole[3] = {1, -2, 3};
  std::memcpy(bytes.data() + 1, whole, sizeof whole);
  convert_elements(DType::i32, bytes.data() + 1, 3, copy);
  EXPECT_EQ(copy[1], -2.0);
}

TEST(Array, ConvertedArraysKeepTheirShape) {
  const MemoryBudget budget;
  Array halves = make_array(DType::f16, {2, 1}, budget, "x");
  const std::uint16_t bits[2] = {0x3c00, 0xb800};
  std::memcpy(halves.bytes.data(), bits, sizeof bits);
  const Array floats = convert_array(halves, DType::f32, budget, "x");
  EXPECT_EQ(floats.dtype, DType::f32);
  EXPECT_EQ(floats.shape, (Shape{2, 1}));
  EXPECT_EQ(floats.data<float>()[0], 1.0f);
  EXPECT_EQ(floats.data<float>()[1], -0.5f);
  EXPECT_EQ(convert_array(halves, DType::f64, budget, "x").data<double>()[1], -0.5);
  EXPECT_EQ(kind_of([&] { convert_array(halves, DType::f64, MemoryBudget(8), "x"); }), ErrorKind::memory);
}

}  // namespace
}  // namespace attn
