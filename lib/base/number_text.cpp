#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

template <typename Real>
void append_real(std::string& text, Real value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-Infinity" : "Infinity";
  } else if (value == 0) {
    text += '0';  // also for -0
  } else {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// nan, inf and infinity without a sign.
NumberStatus parse_word(std::string_view word, bool negative, double& value) {
  std::array<char, 8> folded{};
  if (word.size() > folded.size()) return NumberStatus::not_a_number;
  std::transform(word.begin(), word.end(), folded.begin(), lower);
  const std::string_view name(folded.data(), word.size());
  if (name == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (name == "inf" || name == "infinity")
    value = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  else
    return NumberStatus::not_a_number;
  return NumberStatus::ok;
}

/// Whether a well-formed decimal number is 1 or more in magnitude: its power of ten, and so the side on which a number
/// beyond the range lies.
bool is_large(std::string_view digits) {
  Index exponent = 0;
  const std::size_t mark = std::min(digits.find_first_of("eE"), digits.size());
  if (mark < digits.size()) {
    std::string_view power = digits.substr(mark + 1);
    if (power.front() == '+') power.remove_prefix(1);
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc()) return power.front() != '-';
  }
  const std::string_view mantissa = digits.substr(0, mark);
  const std::size_t first = mantissa.find_first_of("123456789");
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const Index lead = static_cast<Index>(point) - static_cast<Index>(first);  // 12.5: 2, 0.05: -2
  return exponent > -lead;
}

struct SizeUnit {
  char letter;
  int shift;
};
constexpr std::array<SizeUnit, 4> kSizeUnits{{{'k', 10}, {'m', 20}, {'g', 30}, {'t', 40}}};

/// The power of two that a suffix such as K, KB, KiB stands for.
std::optional<int> unit_shift(std::string_view suffix) {
  if (suffix.empty()) return 0;
  const auto unit = std::find_if(kSizeUnits.begin(), kSizeUnits.end(), [&](SizeUnit u) { return u.letter == lower(suffix[0]); });
  if (unit == kSizeUnits.end()) return std::nullopt;
  const std::string_view rest = suffix.substr(1);
  if (rest.empty() || rest == "iB" || rest == "ib" || rest == "B" || rest == "b") return unit->shift;
  return std::nullopt;
}

}  // namespace

void append_number(std::string& text, float value) { append_real(text, value); }
void append_number(std::string& text, double value) { append_real(text, value); }

std::string format_number(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string format_rounded(double value, int digits) {
  if (!std::isfinite(value) || value == 0) return format_number(value);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, std::clamp(digits, 1, 17)).ptr;
  return std::string(text, end);
}

std::string format_bytes(std::size_t bytes) {
  if (bytes == 1) return "1 byte";
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  static constexpr std::array<std::string_view, 6> kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t name = 0;
  double value = static_cast<double>(bytes) / 1024;
  while (value >= 1023.95 && name + 1 < kNames.size()) {
    value /= 1024;
    ++name;
  }
  const double tenths = std::round(value * 10) / 10;
  return format_number(tenths) + " " + std::string(kNames[name]);
}

NumberStatus parse_number(std::string_view text, double& value) {
  if (text.empty()) return NumberStatus::not_a_number;
  const bool negative = text[0] == '-';
  const std::string_view digits = negative || text[0] == '+' ? text.substr(1) : text;
  if (digits.empty()) return NumberStatus::not_a_number;
  if (!is_digit(digits[0]) && digits[0] != '.') return parse_word(digits, negative, value);
  double magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, magnitude);
  if (stop != end || error == std::errc::invalid_argument) return NumberStatus::not_a_number;
  if (error == std::errc::result_out_of_range) {
    if (is_large(digits)) return NumberStatus::out_of_range;
    magnitude = 0;
  }
  value = negative ? -magnitude : magnitude;
  return NumberStatus::ok;
}

std::optional<Index> parse_integer(std::string_view text) {
  const std::string_view digits = !text.empty() && text[0] == '-' ? text.substr(1) : text;
  if (digits.empty() || !is_digit(digits[0]) || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  Index value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::size_t> parse_size(std::string_view text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto shift = unit_shift(text.substr(length));
  double number = 0;
  if (!shift || length == 0 || parse_number(text.substr(0, length), number) != NumberStatus::ok) return std::nullopt;
  if (*shift == 0 && number != std::floor(number)) return std::nullopt;
  const double bytes = std::ldexp(number, *shift);
  if (!(bytes < 0x1p63)) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

}  // namespace v1
}  // namespace attn
