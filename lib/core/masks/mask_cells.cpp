#include "core/masks/mask_cells.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kRank = 4;

std::string shapes_that_fit(const AttentionSizes& sizes) {
  const Index m = sizes.keys, n = sizes.queries, heads = sizes.heads;
  return concat("what fits: ", shape_text({m}), " (keys), ", shape_text({n, m}), ", ", shape_text({heads, n, m}),
                " (heads first), ", shape_text({sizes.batch, heads, n, m}), "; any axis but that of ", shape_text({m}),
                " may be 1");
}

/// The array's axes, padded in front with 1 to [B,H,n,m].
std::array<Index, kRank> fit_axes(const MaskArray& mask, const AttentionSizes& sizes) {
  const Shape& shape = mask.array->shape;
  const std::array<Index, kRank> full{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  std::array<Index, kRank> axes{1, 1, 1, 1};
  bool fits = !shape.empty() && shape.size() <= kRank;
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    const std::size_t axis = kRank - shape.size() + i;
    axes[axis] = shape[i];
    fits = shape[i] == full[axis] || (shape[i] == 1 && shape.size() > 1);
  }
  if (!fits) {
    // What others call a padding mask: reshaping it is all that is missing.
    const bool padding = shape == Shape{sizes.batch, sizes.keys};
    fail_with_hint(
        ErrorKind::mismatch,
        padding ? concat("a row of keys for each item of the batch has the shape ", shape_text({sizes.batch, 1, 1, sizes.keys}))
                : std::string(),
        printable(mask.origin, 60), ": shape ", shape_text(shape), " does not fit ", sizes.queries, " queries and ", sizes.keys,
        " keys; ", shapes_that_fit(sizes));
  }
  return axes;
}

/// Packed elements may be unaligned; the copy becomes a plain load.
template <typename T>
T load(const std::byte* cells, Index i) {
  T value;
  std::memcpy(&value, cells + i * static_cast<Index>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void nonzero_numbers(const std::byte* cells, Index count, std::uint8_t* out) {
  for (Index i = 0; i < count; ++i) out[i] = load<T>(cells, i) != T{0};
}

/// Of 16-bit floats only the sign may be set in a zero.
void nonzero_halves(const std::byte* cells, Index count, std::uint8_t* out) {
  for (Index i = 0; i < count; ++i) out[i] = (load<std::uint16_t>(cells, i) & 0x7fff) != 0;
}

/// Without an early end, so that many are looked at at once.
template <typename T>
bool zero_or_one(const std::byte* cells, Index count) {
  unsigned others = 0;
  for (Index i = 0; i < count; ++i) {
    const T value = load<T>(cells, i);
    others |= static_cast<unsigned>(value != T{0}) & static_cast<unsigned>(value != T{1});
  }
  return others == 0;
}

bool zero_or_one_half(std::uint16_t one, const std::byte* cells, Index count) {
  unsigned others = 0;
  for (Index i = 0; i < count; ++i) {
    const std::uint16_t bits = load<std::uint16_t>(cells, i);
    others |= static_cast<unsigned>((bits & 0x7fff) != 0) & static_cast<unsigned>(bits != one);
  }
  return others == 0;
}

template <typename T>
void minus_infinite_numbers(const std::byte* cells, Index count, std::uint8_t* out) {
  for (Index i = 0; i < count; ++i) out[i] &= load<T>(cells, i) != -std::numeric_limits<T>::infinity();
}

void equal_bits(std::uint16_t bits, const std::byte* cells, Index count, std::uint8_t* out) {
  for (Index i = 0; i < count; ++i) out[i] &= load<std::uint16_t>(cells, i) != bits;
}

}  // namespace

MaskCells::MaskCells(const MaskArray& array, const AttentionSizes& sizes)
    : array_(array.array), origin_(array.origin), keys_(sizes.keys) {
  const std::array<Index, kRank> axes = fit_axes(array, sizes);
  row_length_ = axes[3];
  for (std::size_t axis = 3; axis-- > 0;) {
    strides_[axis] = axes[axis] == 1 ? 0 : rows_;
    rows_ *= axes[axis];
  }
}

std::string MaskCells::place(Index row, Index column) const {
  Shape place(array_->shape.size(), column);
  for (std::size_t axis = place.size() - 1; axis-- > 0;) {
    place[axis] = row % array_->shape[axis];
    row /= array_->shape[axis];
  }
  return shape_text(place);
}

Range MaskCells::distinct_queries(const QueryBlock& block) const {
  return strides_[2] == 0 && !block.queries.empty() ? Range{block.queries.begin, block.queries.begin + 1} : block.queries;
}

Range MaskCells::visible_keys(const QueryBlock& block, const CellSummary& summary) const {
  Range seen{0, 0};
  const Range queries = distinct_queries(block);
  for (Index query = queries.begin; query < queries.end; ++query) {
    const Range span = summary.span(row_of(block.batch, block.head, query));
    if (span.empty()) continue;
    seen = seen.empty() ? span : Range{std::min(seen.begin, span.begin), std::max(seen.end, span.end)};
  }
  return seen;
}

Coverage MaskCells::coverage(const QueryBlock& block, Range keys, const CellSummary& summary) const {
  const Range queries = distinct_queries(block);
  if (queries.empty() || keys.empty()) return Coverage::none;
  const Coverage first = summary.coverage(row_of(block.batch, block.head, queries.begin), keys);
  for (Index query = queries.begin + 1; query < queries.end && first != Coverage::some; ++query)
    if (summary.coverage(row_of(block.batch, block.head, query), keys) != first) return Coverage::some;
  return first;
}

bool only_zero_and_one(DType dtype, const std::byte* cells, Index count) {
  constexpr std::uint16_t kHalf = 0x3c00, kBFloat = 0x3f80;  // the bits of 1
  switch (dtype) {
    case DType::f16:
      return zero_or_one_half(kHalf, cells, count);
    case DType::bf16:
      return zero_or_one_half(kBFloat, cells, count);
    case DType::f32:
      return zero_or_one<float>(cells, count);
    case DType::f64:
      return zero_or_one<double>(cells, count);
    case DType::i16:
    case DType::u16:
      return zero_or_one<std::uint16_t>(cells, count);
    case DType::i32:
    case DType::u32:
      return zero_or_one<std::uint32_t>(cells, count);
    case DType::i64:
    case DType::u64:
      return zero_or_one<std::uint64_t>(cells, count);
    case DType::i8:
    case DType::u8:
      return zero_or_one<std::uint8_t>(cells, count);
    case DType::boolean:
      return true;
  }
  return false;
}

void find_nonzero(DType dtype, const std::byte* cells, Index count, std::uint8_t* out) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
      return nonzero_halves(cells, count, out);
    case DType::f32:
      return nonzero_numbers<float>(cells, count, out);
    case DType::f64:
      return nonzero_numbers<double>(cells, count, out);
    case DType::i16:
    case DType::u16:
      return nonzero_numbers<std::uint16_t>(cells, count, out);
    case DType::i32:
    case DType::u32:
      return nonzero_numbers<std::uint32_t>(cells, count, out);
    case DType::i64:
    case DType::u64:
      return nonzero_numbers<std::uint64_t>(cells, count, out);
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return nonzero_numbers<std::uint8_t>(cells, count, out);
  }
}

void find_minus_infinity(DType dtype, const std::byte* cells, Index count, std::uint8_t* out) {
  constexpr std::uint16_t kHalf = 0xfc00, kBFloat = 0xff80;  // the bits of minus infinity
  if (dtype == DType::f32) minus_infinite_numbers<float>(cells, count, out);
  if (dtype == DType::f64) minus_infinite_numbers<double>(cells, count, out);
  if (dtype == DType::f16) equal_bits(kHalf, cells, count, out);
  if (dtype == DType::bf16) equal_bits(kBFloat, cells, count, out);
}

}  // namespace v1
}  // namespace attn
