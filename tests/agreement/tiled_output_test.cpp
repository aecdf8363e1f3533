#include "agreement/tiled_support.hpp"

// Output and log-sum-exp alone: the paths that never hold a row of weights.
namespace attn::test {
namespace {

class TiledOutput : public testing::TestWithParam<int> {};

TEST_P(TiledOutput, RandomProblems) {
  constexpr int kShards = 2, kCases = 3000;
  for (int i = GetParam(); i < kCases; i += kShards) {
    const RandomProblem random(static_cast<std::uint64_t>(500000 + i));
    for (const Variant& variant : tiled_variants()) {
      const Problem problem = with_variant(random.problem(), variant);
      const Solution solution = solve(problem, without_weights());
      ASSERT_EQ(compare_output(problem, solution), "") << variant.name() << ", case " << i << "\n" << describe(problem);
      ASSERT_TRUE(solve(problem, without_weights(3)) == solution) << variant.name() << ", case " << i << ", 3 threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, TiledOutput, testing::Range(0, 2));

/// Sizes around every tile and vector width, for both precisions.
TEST(TiledSizes, EveryRemainder) {
  std::uint64_t seed = 1;
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Variant& variant : tiled_variants()) {
      for (Index n = 1; n <= 75; ++n) {
        const Problem p = with_variant(normal_problem(++seed, 1, 1, n, 1 + n * 7 % 37, 5, 3, dtype), variant);
        ASSERT_EQ(compare_output(p, solve(p, without_weights())), "") << variant.name() << describe(p);
      }
      for (Index m = 1; m <= 300; m += m < 20 ? 1 : 13) {
        const Problem p = with_variant(normal_problem(++seed, 1, 1, 26, m, 4, 2, dtype), variant);
        ASSERT_EQ(compare_output(p, solve(p, without_weights())), "") << variant.name() << describe(p);
      }
      for (Index d = 1; d <= 35; ++d)
        for (const Index n : {1, 9, 31}) {
          const Problem p = with_variant(normal_problem(++seed, 1, 1, n, 11, d, 36 - d, dtype), variant);
          ASSERT_EQ(compare_output(p, solve(p, without_weights())), "") << variant.name() << describe(p);
        }
    }
}

/// Longer than a stretch of keys: threads share them, and stretches are merged.
TEST(TiledSizes, ManyKeys) {
  std::uint64_t seed = 100;
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Variant& variant : tiled_variants())
      for (const Index n : {1, 3, 5, 30})
        for (const bool causal : {false, true}) {
          Problem p = with_variant(normal_problem(++seed, 2, 1, n, 6200, 8, 5, dtype), variant);
          p.masks.causal = causal;
          if (causal) p.masks.query_offset = 4100;
          if (n == 3) p.sinks = {0.5, -3};
          const Solution solution = solve(p, without_weights());
          ASSERT_EQ(compare_output(p, solution), "") << variant.name() << describe(p);
          for (const int threads : {2, 3, 7})
            ASSERT_TRUE(solve(p, without_weights(threads)) == solution) << threads << " threads";
          // With weights the same stretches are summed from scores that are all there.
          ASSERT_EQ(compare_output(p, solve(p)), "") << variant.name() << describe(p);
        }
}

/// A row's bytes do not depend on the rows beside it, nor on where among them it stands.
TEST(TiledPlaces, RowsAloneEqualRowsTogether) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Variant& variant : tiled_variants())
      for (const bool weights : {false, true}) {
        Problem all = with_variant(normal_problem(7, 2, 1, 131, 2300, 11, 6, dtype), variant);
        all.masks.causal = true;
        all.masks.query_offset = 2100;
        all.masks.window_left = 2090;
        const Wanted wanted{.weights = weights, .threads = 2};
        const Solution together = solve(all, wanted);
        for (const Range part : {Range{0, 5}, Range{3, 40}, Range{60, 131}}) {
          Problem some = all;
          some.queries = part.end - part.begin;
          *some.masks.query_offset += part.begin;
          some.query.clear();
          for (Index h = 0; h < 2; ++h) {
            const auto plane = all.query.begin() + h * 131 * 11;
            some.query.insert(some.query.end(), plane + part.begin * 11, plane + part.end * 11);
          }
          const Solution alone = solve(some, wanted);
          for (Index h = 0; h < 2; ++h)
            for (Index i = 0; i < some.queries * 6; ++i)
              ASSERT_EQ(alone.output[static_cast<std::size_t>(h * some.queries * 6 + i)],
                        together.output[static_cast<std::size_t>((h * 131 + part.begin) * 6 + i)])
                  << variant.name() << ", rows " << part.begin << ".." << part.end << ", head " << h << ", place " << i;
        }
      }
}

/// Heads that share a mask are done together; the mask must still be theirs alone.
TEST(TiledMasks, SharedByManyHeads) {
  Dice dice(5);
  for (const Variant& variant : tiled_variants())
    for (const MaskKind kind : {MaskKind::keep, MaskKind::block, MaskKind::add}) {
      Problem p = with_variant(normal_problem(9, 6, 3, 70, 290, 16, 9, DType::f32), variant);
      MaskNumbers mask{{{70, 290}, {}, DType::f32}, kind};
      for (Index i = 0; i < 70 * 290; ++i) {
        const bool seen = dice.chance(0.6);
        mask.numbers.values.push_back(
            kind != MaskKind::add ? seen
                                  : (seen ? static_cast<double>(dice.between(-3, 3)) : -std::numeric_limits<double>::infinity()));
      }
      p.arrays = {mask};
      const Solution solution = solve(p, without_weights(2));
      EXPECT_EQ(compare_output(p, solution), "") << variant.name();
      p.masks.causal = true, p.masks.query_offset = 200;
      EXPECT_EQ(compare_output(p, solve(p, without_weights(2))), "") << variant.name();
    }
}

/// Values that only other queries may see never reach a row, whichever path it takes; rows that see one follow IEEE.
TEST(TiledMasks, BadValuesStayWhereTheyAre) {
  for (const Variant& variant : tiled_variants())
    for (const Index n : {2, 40}) {
      Problem p = with_variant(normal_problem(11, 2, 2, n, 300, 8, 5, DType::f32), variant);
      p.masks.causal = true;
      p.masks.query_offset = 100;
      p.options.allow_nonfinite = true;
      const Solution clean = solve(p, without_weights());
      const Index key = 100 + n / 2;
      p.value[static_cast<std::size_t>(key * 5 + 3)] = std::numeric_limits<double>::infinity();
      const Solution bad = solve(p, without_weights());
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < 5; ++c) {
          const std::size_t at = static_cast<std::size_t>(i * 5 + c);
          if (100 + i < key)
            EXPECT_EQ(bad.output[at], clean.output[at]) << variant.name() << ", query " << i;
          else
            EXPECT_EQ(std::isinf(bad.output[at]), c == 3) << variant.name() << ", query " << i;
        }
    }
}

/// Scores beyond the precision end the run and name query and key, in every path; what is only large does not.
TEST(TiledRefusals, ScoresBeyondThePrecision) {
  for (const Variant& variant : tiled_variants())
    for (const Index n : {1, 30})
      for (const double sign : {1.0, -1.0}) {
        Problem p = with_variant(normal_problem(13, 1, 1, n, 200, 4, 3, DType::f32), variant);
        p.options.scale = 1.0;
        for (Index c = 0; c < 4; ++c) p.query[static_cast<std::size_t>((n - 1) * 4 + c)] = 1e19;
        for (Index c = 0; c < 4; ++c) p.key[static_cast<std::size_t>(150 * 4 + c)] = sign * 1e20;
        for (const bool weights : {false, true}) try {
            solve(p, {.weights = weights});
            ADD_FAILURE() << variant.name() << " took a score of " << sign * 4e39;
          } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::mismatch);
            EXPECT_NE(error.message().find(concat("query ", n - 1, " and key 150")), std::string::npos) << error.message();
          }
        p.options.scale = 1e-3;
        EXPECT_EQ(compare_output(p, solve(p, without_weights())), "") << variant.name();
      }
}

}  // namespace
}  // namespace attn::test
