#include <gtest/gtest.h>

#include <cstdio>

#include "agreement/toy_attention.hpp"
#include "support/random_problem.hpp"
#include "support/verify.hpp"

// Are the tests any good? A right kernel passes them; the same kernel with one bug must not.
namespace attn::test {
namespace {

/// The toy has no second way for what overflows, and knows one rule for empty rows.
bool suits_the_toy(const RandomProblem& random) {
  return random.flavour() != Flavour::huge_values && random.flavour() != Flavour::early_overflow &&
         random.problem().options.empty_rows == EmptyRows::zero;
}

/// The first of the problems that finds something wrong, or 0.
std::uint64_t first_to_fail(Bug bug, std::uint64_t problems, std::string& how) {
  for (std::uint64_t seed = 1; seed <= problems; ++seed) {
    const RandomProblem random(seed);
    if (!suits_the_toy(random)) continue;
    const Solution solution = solve_with_toy(random.problem(), bug);
    how = Verifier(random.problem(), solution).verify().failure;
    if (how.empty() && !(solve_with_toy(random.problem(), bug, 3) == solution)) how = "other threads give other bytes";
    if (!how.empty()) return seed;
  }
  return 0;
}

TEST(Mutants, TheRightToyPasses) {
  std::string how;
  EXPECT_EQ(first_to_fail(Bug::none, 2000, how), 0u) << how;
}

TEST(Mutants, EveryBugIsFound) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < kBugs.size(); ++i) {
    std::string how;
    const std::uint64_t seed = first_to_fail(kBugs[i], 2000, how);
    EXPECT_GT(seed, 0u) << "bug " << i + 1 << " of the list was not found";
    found += seed > 0;
    std::printf("bug %2zu: found by problem %llu: %s\n", i + 1, static_cast<unsigned long long>(seed), how.c_str());
  }
  std::printf("mutants: %zu of %zu found\n", found, kBugs.size());
  EXPECT_EQ(kBugs.size(), 23u);
  EXPECT_EQ(found, kBugs.size());
}

}  // namespace
}  // namespace attn::test
