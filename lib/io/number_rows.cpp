#include "io/number_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Index kBlock = 256;
constexpr std::size_t kLongestNumber = 32;  // 24 digits, sign, point and exponent of a double; a separator; quotes

template <typename Real>
char* write_number(char* at, Real value, std::string_view quote) {
  if (value == 0) {
    *at = '0';
    return at + 1;
  }
  if (std::isfinite(value)) return std::to_chars(at, at + kLongestNumber, value).ptr;
  const std::string_view word = std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
  at = std::copy(quote.begin(), quote.end(), at);
  at = std::copy(word.begin(), word.end(), at);
  return std::copy(quote.begin(), quote.end(), at);
}

template <typename Real>
void append_reals(std::string& out, const Real* values, Index count, char separator, std::string_view quote) {
  for (Index done = 0; done < count; done += kBlock) {
    const Index block = std::min(kBlock, count - done);
    const std::size_t start = out.size();
    out.resize(start + static_cast<std::size_t>(block) * kLongestNumber);
    char* at = out.data() + start;
    for (Index i = done; i < done + block; ++i) {
      if (i > 0) *at++ = separator;
      at = write_number(at, values[i], quote);
    }
    out.resize(static_cast<std::size_t>(at - out.data()));
  }
}

}  // namespace

void append_numbers(std::string& out, const RowBlock& rows, Index row, char separator, std::string_view quote) {
  if (rows.columns == 0) return;
  if (rows.dtype == DType::f32)
    append_reals(out, rows.row<float>(row), rows.columns, separator, quote);
  else
    append_reals(out, rows.row<double>(row), rows.columns, separator, quote);
}

Index row_count(const Shape& shape) {
  if (shape.empty()) return 1;
  return checked_size(Shape(shape.begin(), shape.end() - 1), "an array to be written");
}

}  // namespace v1
}  // namespace attn
