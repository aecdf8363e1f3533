#include "render/color_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

// Below this share of the largest value a log scale ends unless --vmin asks for more: four decades can still be told
// apart, and the smallest weights of a softmax are far smaller than anyone wants to see.
constexpr double kLogDecades = 1e-4;

bool is_shown(double high) { return high != -std::numeric_limits<double>::infinity(); }

double signed_root(double value) { return value < 0 ? -std::sqrt(-value) : std::sqrt(value); }

/// Where `at` lies between two numbers, 0 to 1. The distance of huge numbers may be no number: they are made smaller.
double share(double at, double low, double high) {
  const double unit = std::max(std::abs(low), std::abs(high)) > 1e300 ? 0.25 : 1;
  return (unit * at - unit * low) / (unit * high - unit * low);
}

/// The largest number rather than infinity.
double bounded(double value) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(value, -kMost, kMost);
}

void refuse_number(const char* option, const std::optional<double>& value) {
  if (value && !std::isfinite(*value))
    fail(ErrorKind::usage, option, " is ", format_number(*value), ", it must be a finite number");
}

}  // namespace

void check_color_options(const PictureOptions& options) {
  refuse_number("--vmin", options.vmin);
  refuse_number("--vmax", options.vmax);
  refuse_number("--center", options.center);
  if (!options.colormap.empty()) find_colormap(options.colormap);
  if (options.vmin && options.vmax && !(*options.vmin < *options.vmax))
    fail(ErrorKind::usage, "--vmin ", format_number(*options.vmin), " is not below --vmax ", format_number(*options.vmax));
  if (options.center &&
      ((options.vmin && *options.vmin >= *options.center) || (options.vmax && *options.vmax <= *options.center)))
    fail(ErrorKind::usage, "--center ", format_number(*options.center), " is not between --vmin and --vmax");
  if (options.color_scale != ColorScale::log) return;
  if (options.center) fail(ErrorKind::usage, "--center and --color-scale log do not go together; a log scale has no centre");
  if (options.vmin && *options.vmin <= 0)
    fail(ErrorKind::usage, "--vmin ", format_number(*options.vmin), " on a log scale, it must be above 0");
  if (options.vmax && *options.vmax <= 0)
    fail(ErrorKind::usage, "--vmax ", format_number(*options.vmax), " on a log scale, it must be above 0");
}

ColorRange::ColorRange(const PictureOptions& options, const PooledCells& cells) : scale_(options.color_scale) {
  check_color_options(options);
  const Extent extent = extent_of(cells);
  const bool has_sign = options.center.has_value() || (extent.any && extent.least < 0);
  map_ = &find_colormap(!options.colormap.empty() ? options.colormap : has_sign ? "RdBu" : "viridis");
  if (scale_ == ColorScale::log) {
    if (has_sign)
      fail(ErrorKind::mismatch, "a value is ", format_rounded(extent.least, 6),
           ", a log scale has no place for negative values; use --color-scale sqrt or linear");
    choose_log(options, extent);
  } else if (has_sign) {
    choose_signed(options, extent);
  } else {
    choose_unsigned(options, extent);
  }
  find_clamped(cells);
}

ColorRange::Extent ColorRange::extent_of(const PooledCells& cells) const {
  Extent extent;
  double least = std::numeric_limits<double>::infinity(), greatest = -least, positive = least;
  const PoolPlan& plan = cells.plan();
  for (Index row = 0; row < plan.panels * plan.rows(); ++row) {
    const double* high = cells.high(0, row);
    const double* low = cells.low(0, row);
    for (Index j = 0; j < plan.columns(); ++j) {
      if (std::isfinite(low[j])) least = std::min(least, low[j]);
      if (std::isfinite(high[j])) greatest = std::max(greatest, high[j]);
      if (std::isfinite(high[j]) && high[j] > 0) positive = std::min(positive, high[j]);
    }
  }
  extent.any = least <= greatest;
  if (!extent.any) return extent;
  extent.least = least;
  extent.greatest = greatest;
  extent.least_positive = std::isfinite(positive) ? positive : 1;
  return extent;
}

void ColorRange::choose_signed(const PictureOptions& options, const Extent& extent) {
  const double center = options.center.value_or(0);
  // Halves first: the distance of two values near the ends of the number range is not a number of that range.
  double reach =
      extent.any ? 2 * std::max(std::abs(extent.greatest / 2 - center / 2), std::abs(center / 2 - extent.least / 2)) : 1;
  if (options.vmin && !options.vmax) reach = center - *options.vmin;
  if (options.vmax && !options.vmin) reach = *options.vmax - center;
  if (!(reach > 0)) reach = 1;
  reach = std::min(reach, std::numeric_limits<double>::max() / 4);
  low_ = options.vmin.value_or(bounded(center - reach));
  high_ = options.vmax.value_or(bounded(center + reach));
  if (!(low_ < high_)) high_ = low_ + 1;
  if (low_ < center && center < high_) center_ = center;
}

void ColorRange::choose_unsigned(const PictureOptions& options, const Extent& extent) {
  low_ = options.vmin.value_or(0);
  high_ = options.vmax.value_or(extent.any ? extent.greatest : 1);
  if (low_ < high_) return;
  if (options.vmax)
    low_ = bounded(high_ - std::max(1.0, std::abs(high_)));
  else
    high_ = bounded(low_ + std::max(1.0, std::abs(low_)));
}

void ColorRange::choose_log(const PictureOptions& options, const Extent& extent) {
  constexpr double kLowest = 1e-300;  // a decade and its logarithm are still ordinary numbers here
  high_ = options.vmax.value_or(extent.any && extent.greatest > 0 ? extent.greatest : bounded(options.vmin.value_or(0.1) * 10));
  low_ = options.vmin.value_or(std::max(std::min(extent.any ? extent.least_positive : 1, high_), high_ * kLogDecades));
  low_ = std::max(low_, kLowest);
  if (low_ < high_) return;
  if (options.vmin || high_ <= kLowest * 10)
    high_ = bounded(low_ * 10);
  else
    low_ = high_ / 10;
}

void ColorRange::find_clamped(const PooledCells& cells) {
  const PoolPlan& plan = cells.plan();
  for (Index row = 0; row < plan.panels * plan.rows(); ++row) {
    const double* high = cells.high(0, row);
    const double* low = cells.low(0, row);
    for (Index j = 0; j < plan.columns(); ++j) {
      if (!is_shown(high[j])) continue;
      const double value = shown(high[j], low[j]);
      below_ = below_ || value < low_;
      above_ = above_ || value > high_;
    }
  }
}

double ColorRange::shown(double high, double low) const {
  if (!center_ || std::isnan(high)) return high;
  return *center_ - low > high - *center_ ? low : high;
}

double ColorRange::transform(double value) const {
  if (scale_ == ColorScale::log) return value > 0 ? std::log10(value) : -std::numeric_limits<double>::infinity();
  if (scale_ == ColorScale::sqrt) return center_ ? signed_root(value - *center_) : signed_root(value);
  return value;
}

double ColorRange::place(double value) const {
  if (value <= low_) return 0;
  if (value >= high_) return 1;
  const double at = transform(value), low = transform(low_), high = transform(high_);
  if (!center_) return share(at, low, high);
  const double middle = transform(*center_);
  return at < middle ? 0.5 * share(at, low, middle) : 0.5 + 0.5 * share(at, middle, high);
}

}  // namespace v1
}  // namespace attn
