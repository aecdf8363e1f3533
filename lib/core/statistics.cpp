#include "attn/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/summation.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Brings sums of the largest doubles back into range; a power of two, so that nothing else is lost.
constexpr double kSmall = 0x1p-64;

/// The power of two at or above |x|; 0 for 0.
double binary_unit(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return x == 0 ? 0 : std::ldexp(1.0, std::min(exponent, 1023));
}

}  // namespace

void ValueStatistics::add(const double* values, Index how_many) {
  for (Index i = 0; i < how_many; ++i) {
    const double value = values[i];
    if (std::isnan(value)) {
      ++nan;
      continue;
    }
    if (std::isinf(value)) {
      ++infinite;
      continue;
    }
    minimum = count == 0 ? value : std::min(minimum, value);
    maximum = count == 0 ? value : std::max(maximum, value);
    ++count;
    // Neumaier's sum: what rounding drops is kept apart.
    const double next = sum + value;
    correction += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
    small_sum += value * kSmall;
  }
}

double ValueStatistics::mean() const {
  if (count == 0) return 0;
  const double total = sum + correction, how_many = static_cast<double>(count);
  return std::isfinite(total) ? total / how_many : small_sum / how_many / kSmall;
}

WeightRow weight_row(const double* weights, Index keys, Index top) {
  CompensatedSum sum, entropy;
  for (Index j = 0; j < keys; ++j) {
    sum.add(weights[j]);
    if (weights[j] != 0) entropy.add(-weights[j] * std::log(weights[j]));
  }
  // NaN sorts last, so that the order is one.
  const auto stronger = [weights](Index a, Index b) {
    const double left = std::isnan(weights[a]) ? -std::numeric_limits<double>::infinity() : weights[a];
    const double right = std::isnan(weights[b]) ? -std::numeric_limits<double>::infinity() : weights[b];
    return left != right ? left > right : a < b;
  };
  std::vector<Index> order(static_cast<std::size_t>(keys));
  std::iota(order.begin(), order.end(), Index{0});
  const Index shown = std::clamp<Index>(top, 0, keys);
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), stronger);

  WeightRow row;
  row.sum = sum.value();
  row.entropy = entropy.value();
  for (Index i = 0; i < shown; ++i) {
    const Index key = order[static_cast<std::size_t>(i)];
    row.strongest.emplace_back(key, weights[key]);
  }
  return row;
}

namespace {

/// |a - b| of one pair; infinity where one is NaN or infinite and the other is not the same.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(a - b);
  return std::isfinite(a) && std::isfinite(b) ? apart : std::numeric_limits<double>::infinity();
}

}  // namespace

void Difference::add_row(const double* a, const double* reference, Index columns, double atol, double rtol) {
  const Index first = count;
  CompensatedSum sum_a, sum_reference;
  for (Index j = 0; j < columns; ++j) {
    const double b = reference[j], apart = distance(a[j], b);
    // The negation also catches a tolerance that is no number.
    if (apart > 0 && !(std::isfinite(apart) && apart <= atol + rtol * std::abs(b))) ++outside;
    if (apart > max_absolute) max_absolute = apart, max_absolute_at = first + j;
    if (std::isfinite(b) && b != 0 && apart / std::abs(b) > max_relative)
      max_relative = apart / std::abs(b), max_relative_at = first + j;
    if (std::isfinite(apart)) sum_absolute += apart;
    sum_a.add(a[j]);
    sum_reference.add(b);
  }
  add_products(a, reference, columns);
  const double row_sums = std::abs(sum_a.value() - sum_reference.value());
  if (row_sums > worst_row_sum || (worst_row < 0 && std::isfinite(row_sums))) worst_row_sum = row_sums, worst_row = rows_seen;
  count += columns;
  ++rows_seen;
}

/// Sums of products for the cosine, in units that grow with the numbers: squares of 1e200 would overflow.
void Difference::add_products(const double* a, const double* reference, Index columns) {
  double largest_a = 0, largest_b = 0;
  for (Index j = 0; j < columns; ++j) {
    if (!std::isfinite(a[j]) || !std::isfinite(reference[j])) continue;
    largest_a = std::max(largest_a, std::abs(a[j]));
    largest_b = std::max(largest_b, std::abs(reference[j]));
  }
  const double new_a = std::max(unit_a, binary_unit(largest_a)), new_b = std::max(unit_b, binary_unit(largest_b));
  const double shrink_a = new_a > 0 ? unit_a / new_a : 1, shrink_b = new_b > 0 ? unit_b / new_b : 1;
  dot *= shrink_a * shrink_b;
  norm_a *= shrink_a * shrink_a;
  norm_b *= shrink_b * shrink_b;
  unit_a = new_a, unit_b = new_b;
  for (Index j = 0; j < columns; ++j) {
    if (!std::isfinite(a[j]) || !std::isfinite(reference[j])) continue;
    const double x = unit_a > 0 ? a[j] / unit_a : 0, y = unit_b > 0 ? reference[j] / unit_b : 0;
    dot += x * y;
    norm_a += x * x;
    norm_b += y * y;
  }
}

double Difference::cosine() const {
  if (norm_a == 0 && norm_b == 0) return 1;
  if (norm_a == 0 || norm_b == 0) return 0;
  return std::clamp(dot / (std::sqrt(norm_a) * std::sqrt(norm_b)), -1.0, 1.0);
}

}  // namespace v1
}  // namespace attn
