#include <algorithm>
#include <charconv>
#include <cmath>

#include "render/color_range.hpp"

namespace attn {
inline namespace v1 {
namespace {

std::string with_minus_sign(std::string text) {
  if (!text.empty() && text[0] == '-') text.replace(0, 1, "−");
  return text;
}

/// "-0.00" says less than "0.00".
std::string without_sign_of_zero(std::string text) {
  if (text.find_first_of("123456789") == std::string::npos && !text.empty() && text[0] == '-') text.erase(0, 1);
  return text;
}

std::string fixed(double value, int decimals) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  return with_minus_sign(without_sign_of_zero(std::string(buffer, end)));
}

/// "2.5e-7": an exponent without a plus sign and without leading zeros.
std::string scientific(double value, int decimals) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, decimals).ptr;
  std::string text(buffer, end);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::string exponent = text.substr(e + 1);
  const bool negative = exponent[0] == '-';
  exponent.erase(0, std::min(exponent.find_first_not_of("+-0"), exponent.size() - 1));
  return with_minus_sign(text.substr(0, e)) + "e" + (negative ? "−" : "") + exponent;
}

/// A step of 1, 2, 2.5 or 5 times a power of ten.
struct Step {
  double size = 1;
  int exponent = 0;
  bool half = false;  // 2.5: one more decimal
};

Step step_above(double least) {
  const int exponent = static_cast<int>(std::floor(std::log10(least)));
  const double unit = std::pow(10.0, exponent);
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (factor * unit >= least * (1 - 1e-9)) return {factor * unit, exponent, factor == 2.5};
  return {10 * unit, exponent + 1, false};
}

std::string tick_text(double value, const Step& step, double largest) {
  if (value == 0) return "0";
  if (largest < 1e5 && step.exponent >= -4) return fixed(value, std::max(0, (step.half ? 1 : 0) - step.exponent));
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value)))) - step.exponent + (step.half ? 1 : 0);
  return scientific(value, std::clamp(digits, 0, 15));
}

std::vector<ColorTick> linear_ticks(const ColorRange& range, int most) {
  const double span = range.high() / 2 - range.low() / 2;
  // Steps of a range this narrow are no longer numbers of their own.
  if (!(span > 1e-290)) return {{0, scientific(range.low(), 1)}, {1, scientific(range.high(), 1)}};
  const Step step = step_above(std::min(2 * (span / std::max(1, most - 1)), 8e307));
  const double largest = std::max(std::abs(range.low()), std::abs(range.high()));
  std::vector<ColorTick> ticks;
  const double first = std::ceil(range.low() / step.size - 1e-9), last = std::floor(range.high() / step.size + 1e-9);
  for (double i = first; i <= last && static_cast<int>(ticks.size()) < most + 1; ++i)
    ticks.push_back({range.place(i * step.size), tick_text(i == 0 ? 0 : i * step.size, step, largest)});
  return ticks;
}

/// The ends of the range in three digits, where the round numbers leave room for them: 1/most of the bar.
std::vector<ColorTick> with_ends(std::vector<ColorTick> ticks, const ColorRange& range, int most) {
  const double gap = 1.0 / std::max(1, most);
  const double largest = std::max(std::abs(range.low()), std::abs(range.high()));
  const auto end = [&](double value, double place) -> ColorTick {
    const int digits = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value)))) - 2;
    return {place, tick_text(value, {1, digits, false}, largest)};
  };
  if (ticks.empty() || ticks.back().place < 1 - gap) ticks.push_back(end(range.high(), 1));
  if (ticks.front().place > gap) ticks.insert(ticks.begin(), end(range.low(), 0));
  return ticks;
}

std::string power_text(double value) {
  return value >= 1e-3 && value < 1e5 ? fixed(value, std::max(0, static_cast<int>(-std::floor(std::log10(value) + 1e-9))))
                                      : scientific(value, 0);
}

std::vector<ColorTick> log_ticks(const ColorRange& range, int most) {
  const int first = static_cast<int>(std::floor(std::log10(range.low()))),
            last = static_cast<int>(std::ceil(std::log10(range.high())));
  const bool few = last - first <= 3;
  const int every = std::max(1, (last - first + most - 1) / most);
  std::vector<ColorTick> ticks;
  for (int exponent = first; exponent <= last; exponent += every) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, exponent);
      if ((factor == 1.0 || few) && value >= range.low() * (1 - 1e-9) && value <= range.high() * (1 + 1e-9))
        ticks.push_back({range.place(value), power_text(value)});
    }
  }
  return ticks;
}

/// Ticks that stand nearer than 1/most of the bar to one that stays are left out.
std::vector<ColorTick> spread(std::vector<ColorTick> ticks, int most) {
  std::vector<ColorTick> kept;
  const double gap = 0.8 / std::max(1, most);
  for (ColorTick& tick : ticks) {
    if (!kept.empty() && tick.place - kept.back().place < gap) continue;
    kept.push_back(std::move(tick));
  }
  return kept;
}

}  // namespace

std::vector<ColorTick> color_ticks(const ColorRange& range, int most) {
  if (range.scale() == ColorScale::log) return spread(log_ticks(range, most), most);
  if (range.scale() == ColorScale::sqrt) return with_ends(spread(linear_ticks(range, 2 * most), most), range, most);
  return with_ends(spread(linear_ticks(range, most), most), range, most);
}

std::string cell_number(double value, int digits, double largest) {
  const bool plain = largest == 0 || (largest < 1e6 && largest >= std::pow(10.0, -digits));
  return plain ? fixed(value, digits) : value == 0 ? "0" : scientific(value, std::max(0, digits - 1));
}

}  // namespace v1
}  // namespace attn
