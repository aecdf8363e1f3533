#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/parallel.hpp"
#include "bench/cases.hpp"
#include "bench/machine.hpp"

// bench-kernels [ROUNDS [PART OF A NAME]]: one table of ratios to the machine's peak, measured around every call.
namespace attn::bench {
namespace {

/// Below this the machine was disturbed: even a tile that never leaves the first cache was slow.
constexpr double kDisturbed = 0.85;

void print_row(const Case& one, const Timing& t, double error) {
  std::printf("%-36s %8.2f ms  %.3f %.3f %.3f  %.3f  ", one.name.c_str(), 1e3 * quantile(t.seconds, 0.5), quantile(t.ratios, 0.5),
              quantile(t.ratios, 0.75), quantile(t.ratios, 1), quantile(t.cpu_ratios, 0.5));
  if (one.must > 0 && one.aim > 0)
    std::printf("%.2f / %.2f", one.must, one.aim);
  else if (one.must > 0)
    std::printf("%.2f       ", one.must);
  else
    std::printf("           ");
  std::printf("  %.2f%s", t.control, t.control < kDisturbed ? " disturbed" : "");
  if (error > 0) std::printf("  %.1e", error);
  std::printf("\n");
  std::fflush(stdout);
}

int run(int rounds, const std::string& part) {
  std::printf("%s\n", machine_text().c_str());
  std::printf(
      "ratio: useful work per second / (peak of multiply-adds, or of reading) around the call; %d rounds, more of short ones\n",
      rounds);
  std::printf("%-36s %11s  %-5s %-5s %-5s  %-5s  %-11s  %s\n", "case", "median", "ratio", "p75", "best", "by CPU", "must / aim",
              "control, error");
  for (Case& one : all_cases(available_threads())) {
    if (one.name.find(part) == std::string::npos) continue;
    Timing timing = measure(one, 2);
    const bool brief = *std::min_element(timing.seconds.begin(), timing.seconds.end()) < 0.005;
    timing = measure(one, brief ? std::max(rounds, 25) : rounds);
    print_row(one, timing, one.check ? one.check() : 0);
    one = Case();
  }
  return 0;
}

}  // namespace
}  // namespace attn::bench

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 9;
  return attn::bench::run(std::max(rounds, 1), count > 2 ? words[2] : "");
}
