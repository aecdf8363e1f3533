// The bits of a number: its text is no longer than 24 characters and reads back to the same bits, as one number, in a table
// and in a document. The sign of 0 and the payload of a NaN are not kept by text.
#include <bit>
#include <cmath>

#include "fuzz/support/check.hpp"
#include "fuzz/support/draws.hpp"
#include "fuzz/support/reading.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

template <typename Bits, typename Real>
bool same(Real a, Real b) {
  if (std::isnan(a) || a == 0) return std::isnan(a) ? std::isnan(b) : b == 0;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// Both numbers of a file are this one.
template <typename Bits, typename Real>
void require_both(Real number, const std::optional<Contents>& contents, const std::string& text) {
  require(contents.has_value() && contents->only().size() == 2, "a number that was written is refused in a file: " + text);
  const double* const numbers = contents->arrays[0].data<double>();
  for (const int i : {0, 1})
    require(same<Bits>(number, static_cast<Real>(numbers[i])), "a number in a file reads back as another: " + text);
}

template <typename Bits, typename Real>
void check_number(Real number) {
  std::string text;
  append_number(text, number);
  require(text.size() <= 24, "a number of more than 24 characters");
  double back = 0;
  require(parse_number(text, back) == NumberStatus::ok, "a number that was written is refused: " + text);
  require(same<Bits>(number, static_cast<Real>(back)), "a number reads back as another: " + text);
  const std::string quote = std::isfinite(number) ? "" : "\"";
  const auto table =
      read_contents(text + "," + text + "\n", {.format = "csv", .header = Tristate::no, .label_column = Tristate::no});
  const auto document = read_contents("[" + quote + text + quote + "," + text + "]", {.format = "json"});
  require_both<Bits>(number, table, text);
  require_both<Bits>(number, document, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  if (size < 8)
    check_number<std::uint32_t>(draws.bits<float>());
  else
    check_number<std::uint64_t>(draws.bits<double>());
  // The rest as a number in a user's hand: what is read must be written and read to the same again.
  double value = 0;
  if (parse_number(draws.rest(), value) != NumberStatus::ok) return 0;
  double again = 1;
  require(parse_number(format_number(value), again) == NumberStatus::ok && same<std::uint64_t>(value, again),
          "a number changes when it is read twice");
  for (const int digits : {1, 6, 17}) {
    const std::string rounded = format_rounded(value, digits);
    require(parse_number(rounded, again) != NumberStatus::not_a_number, "a rounded number is no number: " + rounded);
  }
  return 0;
}
