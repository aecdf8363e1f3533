#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "support/random_problem.hpp"
#include "support/verify.hpp"

// Random problems, every one solved by every kernel and compared element by element with the oracle. ATTN_RANDOM_CASES
// sets how many problems there are in all; ATTN_RANDOM_SEED moves to others.
namespace attn::test {
namespace {

constexpr int kShards = 4;
#ifdef __SANITIZE_ADDRESS__
constexpr long long kCases = 2000;  // the sanitizers take ten times as long
#else
constexpr long long kCases = 20000;
#endif

long long number_from(const char* variable, long long otherwise) {
  const char* const text = std::getenv(variable);
  const std::optional<Index> number = text ? parse_integer(text) : std::nullopt;
  return number ? *number : otherwise;
}

/// Largest fractions of the limits seen by one kernel.
struct Worst {
  Verdict verdict;
  std::uint64_t seed = 0;

  void see(const Verdict& one, std::uint64_t at) {
    if (one.output > verdict.output) seed = at;
    verdict.output = std::max(verdict.output, one.output);
    verdict.weight = std::max(verdict.weight, one.weight);
    verdict.row_sum = std::max(verdict.row_sum, one.row_sum);
    verdict.log_sum_exp = std::max(verdict.log_sum_exp, one.log_sum_exp);
  }
};

class RandomAgreement : public testing::TestWithParam<int> {};

TEST_P(RandomAgreement, WithinAQuarterOfTheBound) {
  const std::vector<Variant> all = variants();
  std::vector<Worst> worst(all.size());
  const std::uint64_t first = static_cast<std::uint64_t>(number_from("ATTN_RANDOM_SEED", 1));
  const long long cases = number_from("ATTN_RANDOM_CASES", kCases) / kShards;
  for (long long i = 0; i < cases; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i * kShards + GetParam());
    const RandomProblem random(seed);
    for (std::size_t v = 0; v < all.size(); ++v) {
      const Problem problem = with_variant(random.problem(), all[v]);
      Solution solution;
      try {
        solution = solve(problem);
      } catch (const std::exception& error) {
        FAIL() << all[v].name() << ", seed " << seed << ": " << error.what() << "\n" << describe(problem);
      }
      const Verdict verdict = Verifier(problem, solution).verify();
      ASSERT_EQ(verdict.failure, "") << all[v].name() << ", seed " << seed << "\n" << describe(problem);
      worst[v].see(verdict, seed);
      for (const int threads : {2, 3})
        ASSERT_TRUE(solve(problem, {.threads = threads}) == solution)
            << all[v].name() << ", seed " << seed << ", " << threads << " threads give other bytes\n"
            << describe(problem);
    }
  }
  for (std::size_t v = 0; v < all.size(); ++v)
    std::printf(
        "%s: %lld problems; worst output %.3f of E (limit 0.25, seed %llu), weight %.3f, row sum %.3f, log-sum-exp %.3f of 1\n",
        all[v].name().c_str(), cases, worst[v].verdict.output, static_cast<unsigned long long>(worst[v].seed),
        worst[v].verdict.weight, worst[v].verdict.row_sum, worst[v].verdict.log_sum_exp);
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomAgreement, testing::Range(0, kShards));

}  // namespace
}  // namespace attn::test
