#include "version.hpp"

#include <algorithm>
#include <cstdlib>

#include "app/help.hpp"
#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/core/attention.hpp"

namespace attn::app {

std::string forced_simd() {
  const char* value = std::getenv("ATTN_CLI_SIMD");
  if (!value || *value == '\0') return {};
  const std::string name = value;
  const std::vector<std::string> names = simd_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail_with_hint(ErrorKind::usage, did_you_mean(name, names), "ATTN_CLI_SIMD: found '", printable(name, 80), "', expected ",
                   word_list(names));
  if (simd_runs(name)) return name;
  std::vector<std::string> able;
  std::copy_if(names.begin(), names.end(), std::back_inserter(able), simd_runs);
  fail(ErrorKind::usage, "ATTN_CLI_SIMD: this CPU lacks ", name, ", expected ", word_list(able));
}

std::string version_text(int threads) {
  const std::string forced = forced_simd();
  return concat("attn-cli ", kVersion, "\nbuild: ", kBuild, "\nSIMD: ", forced.empty() ? best_simd() : forced,
                forced.empty() ? "" : " (ATTN_CLI_SIMD)", "\nthreads: ", threads, "\n");
}

}  // namespace attn::app
