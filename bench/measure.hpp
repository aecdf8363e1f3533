#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attn::bench {

/// What a time is compared with.
enum class Yardstick { fma_f32, fma_f64, reading };

/// One row of the table.
struct Case {
  std::string name;
  double work = 0;  ///< useful FLOP, or bytes for Yardstick::reading
  Yardstick yardstick = Yardstick::fma_f32;
  int threads = 2;
  double must = 0, aim = 0;       ///< of the yardstick
  const void* memory = nullptr;   ///< what is read, for Yardstick::reading
  std::function<void()> prepare;  ///< not timed; may be empty
  std::function<void()> run;
  std::function<double()> check;  ///< largest relative error of some results; may be empty
};

/// Ratios to the yardstick and times of the rounds of one case.
struct Timing {
  std::vector<double> ratios, seconds;
  std::vector<double> cpu_ratios;  ///< the same by CPU time: what the ratio would be if no other process ran
  double control = 0;              ///< median ratio of the control kernel in the same rounds
};

double seconds_now();
/// CPU time of all threads of this process.
double cpu_seconds_now();
double quantile(std::vector<double> values, double q);
/// Yardstick, case, yardstick in every round: the ratio is to the larger of the two. Times are those of one call.
Timing measure(const Case& one, int rounds);

}  // namespace attn::bench
