#include "core/kernels/tiled_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn {
inline namespace v1 {
namespace {

/// Keys are summed in stretches of at least so many, and in about so many stretches at most.
constexpr Index kLeastStretch = 16 * kKeyBlock;
constexpr Index kMostStretches = 64;

/// The factor of the queries in double.
double exact_factor(const KernelJob& job, bool natural) {
  return natural || job.softcap > 0 ? job.scale : job.scale * std::numbers::log2e;
}

/// Numbers of T below this have no room for products that still have all their digits.
template <typename T>
constexpr double kRoom = sizeof(T) == 4 ? 0x1p-100 : 0x1p-900;

/// Whether T holds the number without losing digits: not subnormal, with room for products.
template <typename T>
bool holds(double number) {
  const double size = std::abs(number);
  return size == 0 || (size >= kRoom<T> && size <= 1 / kRoom<T>);
}

}  // namespace

template <typename T>
TiledPlan<T>::TiledPlan(const KernelJob& the_job, const RunContext& the_run, ScoreUnit unit)
    : job(the_job),
      run(the_run),
      wanted(*the_job.outputs),
      steps(steps_of<T>(tile_set(the_job.simd))),
      natural(unit == ScoreUnit::natural) {
  const double log2e = std::numbers::log2e;
  const double factor = exact_factor(job, natural);
  const double height = natural ? job.softcap : job.softcap * log2e;
  const double shrink = job.softcap > 0 ? 1 / job.softcap : 0;
  query_factor = static_cast<T>(factor);
  bias_factor = natural ? T(1) : static_cast<T>(log2e);
  least_bias = std::numeric_limits<T>::lowest() / (natural ? 1 : 2);
  cap_height = static_cast<T>(height);
  cap_shrink = static_cast<T>(shrink);
  power_unit = natural ? static_cast<T>(log2e) : T(1);
  stretch = std::max(kLeastStretch, (job.sizes.keys / kMostStretches + kKeyBlock - 1) / kKeyBlock * kKeyBlock);
  all_careful = !holds<T>(factor) || !holds<T>(height) || !holds<T>(shrink);
}

template <typename T>
T TiledPlan<T>::sink(Index head) const {
  if (job.sinks.empty()) return -std::numeric_limits<T>::infinity();
  return static_cast<T>(job.sinks[static_cast<std::size_t>(head)] * (natural ? 1 : std::numbers::log2e));
}

template <typename T>
bool TiledPlan<T>::deep(T maximum) const {
  return !(std::abs(maximum) < std::numeric_limits<T>::max() / 64);
}

template <typename T>
T TiledPlan<T>::log_sum_exp(T maximum, T total) const {
  if (!(total > 0)) return -std::numeric_limits<T>::infinity();
  const double log_total = std::log(std::ldexp(static_cast<double>(total), -tile::kPowerShift<T>));
  const double natural_maximum = natural ? double(maximum) : double(maximum) * std::numbers::ln2;
  return static_cast<T>(natural_maximum + log_total);
}

template <typename T>
bool TiledPlan<T>::loses_digits(T peak) const {
  // What is too large instead shows in the scores.
  return peak > 0 && query_factor != 0 && std::abs(static_cast<double>(peak) * static_cast<double>(query_factor)) < kRoom<T>;
}

std::vector<PanelPlace> lay_panels(Index n, Index width, Index vectors) {
  std::vector<PanelPlace> panels;
  const Index widest = vectors * width;
  Index at = 0;
  while (at < n) {
    const Index left = n - at;
    Index lanes = std::min(widest, (left + width - 1) / width * width);
    // What would leave a panel of one vector, which is slow, is shared between two of two vectors.
    if (vectors == 3 && left > widest && left <= widest + width) lanes = 2 * width;
    panels.push_back({{at, std::min(at + lanes, n)}, lanes});
    at += lanes;
  }
  return panels;
}

template struct TiledPlan<float>;
template struct TiledPlan<double>;

}  // namespace v1
}  // namespace attn
