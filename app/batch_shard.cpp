#include "app/batch_shard.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

constexpr long long kMost = 1'000'000;

std::optional<long long> variable(const char* name) {
  const char* text = std::getenv(name);
  if (!text || *text == '\0') return std::nullopt;
  return integer_value(name, text, 0, 4'000'000'000);
}

Shard checked(long long index, long long count, std::string_view source, std::string_view shown) {
  if (count < 1 || count > kMost || index < 0 || index >= count)
    fail(ErrorKind::usage, source, ": found '", printable(shown, 80), "', expected I/N with I from 0 to N-1, and N at most ",
         kMost);
  return {static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(count), std::string(source)};
}

Shard typed_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = parse_integer(std::string_view(text).substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : parse_integer(std::string_view(text).substr(slash + 1));
  return checked(index.value_or(-1), count.value_or(0), "--shard", text);
}

/// The tasks of a Slurm array are MIN, MIN+STEP, .. MAX; a list with gaps has no shards that follow from the number.
std::optional<Shard> slurm_shard() {
  const auto id = variable("SLURM_ARRAY_TASK_ID"), count = variable("SLURM_ARRAY_TASK_COUNT");
  if (!id) return std::nullopt;
  const long long least = variable("SLURM_ARRAY_TASK_MIN").value_or(0);
  const long long step = std::max(1LL, variable("SLURM_ARRAY_TASK_STEP").value_or(1));
  const auto most = variable("SLURM_ARRAY_TASK_MAX");
  const bool gaps = most && count && least + (*count - 1) * step != *most;
  const bool between = *id < least || (*id - least) % step != 0;
  if (!count || gaps || between)
    fail_with_hint(ErrorKind::usage, "name the shard: --shard I/N", "SLURM_ARRAY_TASK_ID is ", *id,
                   ", but its array does not run from SLURM_ARRAY_TASK_MIN (", least, ") in even steps");
  return checked((*id - least) / step, *count, "SLURM_ARRAY_TASK_ID", concat((*id - least) / step, "/", *count));
}

std::optional<Shard> kubernetes_shard() {
  const auto index = variable("JOB_COMPLETION_INDEX"), count = variable("JOB_COMPLETION_COUNT");
  if (!index) return std::nullopt;
  if (!count)
    fail_with_hint(ErrorKind::usage, "set JOB_COMPLETION_COUNT to the job's completions, or name the shard: --shard I/N",
                   "JOB_COMPLETION_INDEX is ", *index, ", but nothing says of how many");
  return checked(*index, *count, "JOB_COMPLETION_INDEX", concat(*index, "/", *count));
}

}  // namespace

Shard chosen_shard(const Words& words) {
  if (words.has("--shard")) return typed_shard(words.value("--shard"));
  if (const auto shard = slurm_shard()) return *shard;
  if (const auto shard = kubernetes_shard()) return *shard;
  return {};
}

}  // namespace attn::app
