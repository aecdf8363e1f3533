#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "bench/peak.hpp"
#include "core/tile/tile_list.hpp"

namespace attn::bench {
namespace {

/// A score tile with everything in the first cache: what the machine can do with this code when nothing disturbs it.
class ControlKernel {
 public:
  ControlKernel() : steps_(tile::find_tile_set("", 0)->f32), lanes_(steps_.vector_lanes * tile::kMaxVectors) {
    panel_.assign(static_cast<std::size_t>(kDepth * lanes_), 0.5f);
    keys_.assign(kDepth * kKeys, 0.25f);
    scores_.assign(static_cast<std::size_t>(kKeys * lanes_), 0);
    highest_.assign(static_cast<std::size_t>(lanes_), 0);
    check_ = highest_;
  }

  double ratio() {
    const double start = cpu_seconds_now();
    for (int i = 0; i < kRepeats; ++i)
      steps_.scores(
          {panel_.data(), kDepth, lanes_, keys_.data(), kDepth, kKeys, scores_.data(), nullptr, highest_.data(), check_.data()});
    const double seconds = cpu_seconds_now() - start;
    return 2.0 * kDepth * kKeys * static_cast<double>(lanes_) * kRepeats / seconds / peak_f32(1);
  }

 private:
  static constexpr long kDepth = 64, kKeys = 32;
  static constexpr int kRepeats = 400;
  const tile::TileSteps<float>& steps_;
  long lanes_;
  std::vector<float> panel_, keys_, scores_, highest_, check_;
};

/// What is shorter is called several times in a row: on its own it would take no longer than a sleeping core takes to wake.
constexpr double kLeastSeconds = 0.002;

double yardstick(const Case& one) {
  if (one.yardstick == Yardstick::fma_f32) return peak_f32(one.threads);
  if (one.yardstick == Yardstick::fma_f64) return peak_f64(one.threads);
  return read_bandwidth(one.memory, static_cast<unsigned long>(one.work), one.threads);
}

}  // namespace

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double cpu_seconds_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

Timing measure(const Case& one, int rounds) {
  Timing timing;
  ControlKernel control;
  std::vector<double> controls;
  if (one.prepare) one.prepare();
  one.run();
  const double first = seconds_now();
  one.run();
  const int calls = static_cast<int>(std::clamp(kLeastSeconds / (seconds_now() - first), 1.0, 100.0));
  for (int round = 0; round < rounds; ++round) {
    if (one.prepare) one.prepare();
    controls.push_back(control.ratio());
    // Nothing comes between the peak and the call: all cores are awake, as when calls follow each other.
    const double before = yardstick(one);
    const double start = seconds_now(), cpu_start = cpu_seconds_now();
    for (int call = 0; call < calls; ++call) one.run();
    const double seconds = (seconds_now() - start) / calls, cpu_seconds = (cpu_seconds_now() - cpu_start) / calls;
    const double after = yardstick(one);
    timing.seconds.push_back(seconds);
    timing.ratios.push_back(one.work / seconds / std::max(before, after));
    timing.cpu_ratios.push_back(one.work * one.threads / cpu_seconds / std::max(before, after));
  }
  timing.control = quantile(controls, 0.5);
  return timing;
}

}  // namespace attn::bench
