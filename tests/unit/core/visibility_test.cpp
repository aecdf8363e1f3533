#include "attention_helpers.hpp"
#include "support/random_problem.hpp"

namespace attn::test {
namespace {

TEST(Visibility, NullWhenEverythingIsAllowed) {
  Problem problem = equal_scores(2, 3);
  EXPECT_EQ(make_visibility(PreparedProblem(problem).inputs, {}, Reduce::none), nullptr);
  problem.masks.alibi = true;
  problem.masks.causal = true;
  problem.masks.query_offset = 2;
  EXPECT_EQ(make_visibility(PreparedProblem(problem).inputs, {}, Reduce::none), nullptr);
  problem.arrays = {mask_of(MaskKind::keep, {3}, {1, 1, 1})};
  EXPECT_EQ(make_visibility(PreparedProblem(problem).inputs, {}, Reduce::none), nullptr);
}

TEST(Visibility, RangesOfOneRow) {
  Problem problem = equal_scores(2, 5);
  problem.arrays = {mask_of(MaskKind::keep, {2, 5}, {1, 1, 0, 1, 0, 0, 0, 0, 0, 0})};
  const PreparedProblem prepared(problem);
  const auto visibility = make_visibility(prepared.inputs, {}, Reduce::none);
  std::vector<Range> ranges{{7, 9}};
  visibility->allowed_keys(0, ranges);
  EXPECT_EQ(ranges, (std::vector<Range>{{0, 2}, {3, 4}}));
  visibility->allowed_keys(1, ranges);
  EXPECT_TRUE(ranges.empty());
}

TEST(Visibility, RowsAreNumberedLikeThoseOfTheWeights) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const RandomProblem random(seed);
    const Problem& problem = random.problem();
    if (problem.keys > 40) continue;
    const PreparedProblem prepared(problem);
    const OracleMasks oracle(problem);
    std::vector<Index> heads;
    for (Index h = problem.heads; h-- > 0;)
      if ((seed >> h) % 2) heads.push_back(h);
    std::vector<Index> chosen = heads;
    if (heads.empty())
      for (Index h = 0; h < problem.heads; ++h) chosen.push_back(h);
    const auto one = make_visibility(prepared.inputs, heads, Reduce::none);
    const auto reduced = make_visibility(prepared.inputs, heads, Reduce::max);
    std::vector<Range> ranges;
    const auto sees = [&](Index j) {
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        EXPECT_LT(ranges[i].begin, ranges[i].end);
        if (i > 0) {
          EXPECT_LT(ranges[i - 1].end, ranges[i].begin);
        }
        if (j >= ranges[i].begin && j < ranges[i].end) return true;
      }
      return false;
    };
    for (Index b = 0; b < problem.batch; ++b)
      for (Index i = 0; i < problem.queries; ++i)
        for (Index j = 0; j < problem.keys; ++j) {
          bool any = false;
          for (std::size_t place = 0; place < chosen.size(); ++place) {
            const bool allowed = oracle.allowed({b, chosen[place], i, j});
            any = any || allowed;
            if (!one) {
              ASSERT_TRUE(allowed);
              continue;
            }
            one->allowed_keys((b * static_cast<Index>(chosen.size()) + static_cast<Index>(place)) * problem.queries + i, ranges);
            ASSERT_EQ(sees(j), allowed) << "seed " << seed;
          }
          if (!reduced) {
            ASSERT_TRUE(any);
            continue;
          }
          reduced->allowed_keys(b * problem.queries + i, ranges);
          ASSERT_EQ(sees(j), any) << "seed " << seed;
        }
  }
}

}  // namespace
}  // namespace attn::test
