#include "bench/machine.hpp"

#include <fstream>

#include "attn/base/error.hpp"
#include "attn/core/attention.hpp"
#include "base/parallel.hpp"

namespace attn::bench {
namespace {

std::string line_with(const char* path, const std::string& start) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(start, 0) == 0) return line;
  return {};
}

}  // namespace

std::string machine_text() {
  const std::string model = line_with("/proc/cpuinfo", "model name");
  const std::size_t colon = model.find(": ");
  return concat(colon == std::string::npos ? "unknown CPU" : model.substr(colon + 2), ", ", available_threads(), " CPUs, GCC ",
                __VERSION__, ", ", best_simd(), ", huge pages: ", line_with("/sys/kernel/mm/transparent_hugepage/enabled", ""));
}

}  // namespace attn::bench
