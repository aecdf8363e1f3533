#include <limits>

#include "attention_helpers.hpp"

// Values worked out by hand (and with a pocket calculator), for every kernel and both precisions.
namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class HandValues : public testing::TestWithParam<DType> {
 protected:
  /// Solves it with each kernel and compares weights and output; either may be left out.
  void expect(Problem problem, const Rows& weights, const Rows& output = {}, double tolerance = 1e-6) const {
    problem.dtype = GetParam();
    for (const Variant& variant : variants()) {
      SCOPED_TRACE(variant.name());
      const Solution solution = solve(with_variant(problem, variant));
      if (!weights.empty()) expect_near(solution.weights, flat(weights), tolerance);
      if (!output.empty()) expect_near(solution.output, flat(output), 2e-6);
    }
  }
};

const Rows kIdentity4{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};

TEST_P(HandValues, TutorialSentence) {
  const double e = 0.354661, o = 0.215113;
  expect(problem_of(kIdentity4, kIdentity4, kIdentity4), {{e, o, o, o}, {o, e, o, o}, {o, o, e, o}, {o, o, o, e}});
}

TEST_P(HandValues, TutorialSentenceCausal) {
  Problem problem = problem_of(kIdentity4, kIdentity4, kIdentity4);
  problem.masks.causal = true;
  expect(problem, {{1, 0, 0, 0}, {.377541, .622459, 0, 0}, {.274069, .274069, .451863, 0}, {.215113, .215113, .215113, .354661}});
}

TEST_P(HandValues, TwoQueriesThreeKeys) {
  Problem problem = problem_of({{1, 0}, {0, 1}}, {{1, 0}, {0, 1}, {1, 1}}, {{1}, {2}, {3}});
  expect(problem, {{.401112, .197776, .401112}, {.197776, .401112, .401112}}, {{2}, {2.203336}});
  problem.arrays = {mask_of(MaskKind::keep, {2, 3}, {1, 1, 0, 0, 0, 0})};
  expect(problem, {{.669762, .330238, 0}, {0, 0, 0}}, {{1.330238}, {0}});
  problem.options.empty_rows = EmptyRows::nan;
  expect(problem, {{.669762, .330238, 0}, {kNaN, kNaN, kNaN}}, {{1.330238}, {kNaN}});
}

TEST_P(HandValues, SplitIntoHeads) {
  // X = [[1,0,2,0],[0,1,0,2]] in two heads: [[1,0],[0,1]] and [[2,0],[0,2]].
  Problem problem;
  problem.heads = problem.kv_heads = 2;
  problem.queries = problem.keys = problem.head_size = problem.value_size = 2;
  problem.query = problem.key = problem.value = {1, 0, 0, 1, 2, 0, 0, 2};
  expect(problem, {{.669762, .330238}, {.330238, .669762}, {.944193, .055807}, {.055807, .944193}},
         {{.669762, .330238}, {.330238, .669762}, {1.888386, .111614}, {.111614, 1.888386}});
  problem.dtype = GetParam();
  expect_near(solve(problem, {.reduce = Reduce::mean}).weights, {.806977, .193023, .193023, .806977});
  expect_near(solve(problem, {.reduce = Reduce::max}).weights, {.944193, .330238, .330238, .944193});
  expect_near(solve(problem, {.reduce = Reduce::min}).weights, {.669762, .055807, .055807, .669762});
}

TEST_P(HandValues, CausalAlignment) {
  Problem problem = equal_scores(2, 5);
  problem.masks.causal = true;
  expect(problem, {{1, 0, 0, 0, 0}, {.5, .5, 0, 0, 0}}, {{1}, {1.5}});
  problem.masks.align = Align::bottom_right;
  expect(problem, {{.25, .25, .25, .25, 0}, {.2, .2, .2, .2, .2}}, {{2.5}, {3}});
  problem.masks.align.reset();
  problem.masks.query_offset = 1;
  expect(problem, {{.5, .5, 0, 0, 0}, {1. / 3, 1. / 3, 1. / 3, 0, 0}});
  problem.masks.query_offset.reset();
  problem.masks.past = 2;
  expect(problem, {{1. / 3, 1. / 3, 1. / 3, 0, 0}, {.25, .25, .25, .25, 0}});
  problem.masks.past = 0;
  problem.masks.prefix = 3;
  expect(problem, {{1. / 3, 1. / 3, 1. / 3, 0, 0}, {1. / 3, 1. / 3, 1. / 3, 0, 0}});
}

TEST_P(HandValues, BottomRightCountsValidKeys) {
  // Three of five keys are valid: the last of two queries stands at key 2.
  Problem problem = equal_scores(2, 5);
  problem.masks.causal = true;
  problem.masks.align = Align::bottom_right;
  problem.masks.key_lengths = {3};
  expect(problem, {{.5, .5, 0, 0, 0}, {1. / 3, 1. / 3, 1. / 3, 0, 0}});
}

TEST_P(HandValues, Softcap) {
  Problem problem = problem_of({{1}}, {{10}, {5}}, {{0}, {1000}});
  problem.options.scale = 1;
  problem.options.softcap = 2;
  expect(problem, {{.506647, .493353}});
  problem.arrays = {mask_of(MaskKind::keep, {1, 2}, {1, 0})};
  expect(problem, {{1, 0}}, {{0}});
  problem.arrays = {mask_of(MaskKind::add, {1, 2}, {0, 3})};
  expect(problem, {{.048642, .951358}});
}

TEST_P(HandValues, LargeScores) {
  Problem problem = problem_of({{1}}, {{10000}, {9999}}, {{1}, {2}});
  problem.options.scale = 1;
  Problem three = problem_of({{1}}, {{-1000}, {-1001}, {-1002}}, {{1}, {2}, {3}});
  three.options.scale = 1;
  // A float32 score near 10000 has a few digits after the point.
  const double tolerance = GetParam() == DType::f32 ? 2e-3 : 1e-6;
  expect(problem, {{.731059, .268941}}, {}, tolerance);
  expect(three, {{.665241, .244728, .090031}}, {}, tolerance);
  three.key = {1000, 1001, 1002};
  expect(three, {{.090031, .244728, .665241}}, {}, tolerance);
}

TEST_P(HandValues, MaximumOverAllowedKeysOnly) {
  Problem problem = problem_of({{1}}, {{5}, {1e6}}, {{1}, {2}});
  problem.options.scale = 1;
  problem.arrays = {mask_of(MaskKind::keep, {1, 2}, {1, 0})};
  expect(problem, {{1, 0}}, {{1}});
}

TEST_P(HandValues, WindowCountsTheKeysBefore) {
  Problem problem = equal_scores(4, 4);
  problem.masks.causal = true;
  problem.masks.window_left = 2, problem.masks.window_right = 0;
  expect(problem, {{1, 0, 0, 0}, {.5, .5, 0, 0}, {1. / 3, 1. / 3, 1. / 3, 0}, {0, 1. / 3, 1. / 3, 1. / 3}});
  problem.masks.causal = false;
  problem.masks.window_left = -1, problem.masks.window_right = 1;
  expect(problem, {{.5, .5, 0, 0}, {1. / 3, 1. / 3, 1. / 3, 0}, {.25, .25, .25, .25}, {.25, .25, .25, .25}});
}

TEST_P(HandValues, AlibiOneSlope) {
  // Eight heads have the slopes 1/2, 1/4, ...; the first of them shows the numbers of a single slope of 1/2.
  Problem problem;
  problem.heads = problem.kv_heads = 8;
  problem.queries = problem.keys = 3;
  problem.query.assign(24, 0), problem.key.assign(24, 0), problem.value.assign(24, 1);
  problem.masks.alibi = true;
  problem.masks.causal = true;
  problem.dtype = GetParam();
  const std::vector<double> weights = solve(problem).weights;
  expect_near({weights.begin() + 6, weights.begin() + 9}, {.186324, .307196, .506480});
}

TEST_P(HandValues, KeyLengthsAreColumns) {
  Problem problem = equal_scores(3, 3);
  problem.masks.key_lengths = {2};
  expect(problem, {{.5, .5, 0}, {.5, .5, 0}, {.5, .5, 0}}, {{1.5}, {1.5}, {1.5}});
}

TEST_P(HandValues, DocumentsKeepToThemselves) {
  Problem problem = equal_scores(3, 3);
  problem.masks.key_documents = {7, -1, 7};
  expect(problem, {{.5, 0, .5}, {0, 1, 0}, {.5, 0, .5}}, {{2}, {2}, {2}});
  problem.masks.query_documents = {-1, 7, 3};
  expect(problem, {{0, 1, 0}, {.5, 0, .5}, {0, 0, 0}}, {{2}, {2}, {0}});
  Problem packed = equal_scores(4, 4);
  packed.masks.causal = true;
  packed.masks.key_documents = {0, 0, 1, 1};
  expect(packed, {{1, 0, 0, 0}, {.5, .5, 0, 0}, {0, 0, 1, 0}, {0, 0, .5, .5}}, {{1}, {1.5}, {3}, {3.5}});
}

TEST_P(HandValues, CausalAndLeftPadding) {
  Problem problem = equal_scores(4, 4);
  problem.masks.causal = true;
  problem.arrays = {mask_of(MaskKind::keep, {4}, {0, 0, 1, 1})};
  expect(problem, {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, .5, .5}}, {{0}, {0}, {3}, {3.5}});
}

TEST_P(HandValues, LowestFloatIsABias) {
  const double lowest = -3.4028234663852886e38;
  Problem problem = problem_of({{1}}, {{1}, {5}, {9}}, {{1}, {2}, {3}});
  problem.options.scale = 1;
  problem.arrays = {mask_of(MaskKind::add, {1, 3}, {lowest, lowest, lowest})};
  expect(problem, {{1. / 3, 1. / 3, 1. / 3}}, {{2}});
  // Their sum saturates: still a bias, and no key is blocked.
  problem.arrays.push_back(problem.arrays[0]);
  expect(problem, {{1. / 3, 1. / 3, 1. / 3}}, {{2}});
}

TEST_P(HandValues, RankThreeMaskIsHeads) {
  Problem problem = equal_scores(1, 2);
  problem.heads = problem.kv_heads = 2;
  problem.query = {0, 0}, problem.key = {0, 0, 0, 0}, problem.value = {1, 2, 1, 2};
  problem.arrays = {mask_of(MaskKind::keep, {2, 1, 2}, {1, 0, 0, 1})};
  expect(problem, {{1, 0}, {0, 1}}, {{1}, {2}});
}

TEST_P(HandValues, NaNInABlockedKey) {
  const Rows rows{{0, 1, 2, 3}, {4, 5, 6, 7}};
  Problem problem = problem_of(rows, {{0, 1, 2, 3}, {kNaN, 5, 6, 7}}, {{0, 1, 2, 3}, {kNaN, kNaN, kInfinity, 1e30}});
  problem.arrays = {mask_of(MaskKind::keep, {2, 2}, {1, 0, 1, 0})};
  expect(problem, {{1, 0}, {1, 0}}, {{0, 1, 2, 3}, {0, 1, 2, 3}});
}

TEST_P(HandValues, SinkTakesItsShare) {
  // Two keys of score 0 and a sink of ln 2: the sum is 1 + 1 + 2.
  Problem problem = equal_scores(1, 2);
  problem.sinks = {std::log(2.0)};
  expect(problem, {{.25, .25}}, {{.75}});
  problem.dtype = GetParam();
  expect_near(solve(problem).lse, {std::log(4.0)});
  problem.arrays = {mask_of(MaskKind::keep, {2}, {0, 0})};
  expect(problem, {{0, 0}}, {{0}});
  expect_near(solve(problem).lse, {std::log(2.0)});
  problem.sinks.clear();
  expect_near(solve(problem).lse, {-kInfinity});
}

TEST_P(HandValues, GroupedHeadsShareInOrder) {
  // Query heads 0,1 use key/value head 0; 2,3 use head 1.
  Problem problem = equal_scores(1, 1);
  problem.heads = 4, problem.kv_heads = 2;
  problem.query = {0, 0, 0, 0}, problem.key = {0, 0}, problem.value = {10, 20};
  expect(problem, {{1}, {1}, {1}, {1}}, {{10}, {10}, {20}, {20}});
}

TEST_P(HandValues, ScaleOfZeroAndBelow) {
  Problem problem = problem_of({{1}}, {{0}, {1}}, {{0}, {1}});
  problem.options.scale = 0;
  expect(problem, {{.5, .5}});
  problem.options.scale = -1;
  expect(problem, {{.731059, .268941}});
  problem.options.scale = 1;
  expect(problem, {{.268941, .731059}});
}

TEST_P(HandValues, DefaultScaleIsOfTheHead) {
  Problem problem = problem_of({{1, 1, 1, 1}}, {{0, 0, 0, 0}, {1, 1, 0, 0}}, {{0}, {1}});
  expect(problem, {{.268941, .731059}});  // 2 / sqrt(4) = 1
}

TEST_P(HandValues, LogSumExp) {
  Problem problem = problem_of({{1}}, {{1000}, {1000}}, {{1}, {1}});
  problem.options.scale = 1;
  problem.dtype = GetParam();
  for (const Variant& variant : variants()) expect_near(solve(with_variant(problem, variant)).lse, {1000 + std::log(2.0)}, 1e-4);
}

TEST_P(HandValues, NoKeysAndNoQueries) {
  Problem problem = equal_scores(2, 1);
  problem.keys = 0;
  problem.key.clear(), problem.value.clear();
  expect(problem, {}, {{0}, {0}});
  expect_near(solve(problem).lse, {-kInfinity, -kInfinity});
  EXPECT_EQ(solve(problem).report.empty_rows, 2);
  Problem none = equal_scores(0, 2);
  none.dtype = GetParam();
  EXPECT_TRUE(solve(none).weights.empty());
  EXPECT_EQ(solve(none).report.empty_rows, 0);
}

TEST_P(HandValues, ManyEqualKeys) {
  // A long running sum of 1.1 drifts; sums of sums do not.
  for (const Index m : {1, 2, 3, 63, 64, 65, 3000, 100000}) {
    Problem problem = equal_scores(1, m);
    problem.value.assign(static_cast<std::size_t>(m), GetParam() == DType::f32 ? static_cast<double>(1.1f) : 1.1);
    problem.dtype = GetParam();
    const double ulp = GetParam() == DType::f32 ? 0x1p-24 : 0x1p-53;
    for (const Variant& variant : variants()) {
      const Solution solution = solve(with_variant(problem, variant));
      // A quarter of the bound is allowed; float64 has digits to spare.
      const double units = GetParam() == DType::f32 || variant.kernel == "reference" ? 64 : 512;
      EXPECT_NEAR(solution.output[0], problem.value[0], units * 1.1 * ulp) << variant.name() << ", " << m << " keys";
      EXPECT_NEAR(solution.weights[0] * static_cast<double>(m), 1, 4 * ulp) << variant.name() << ", " << m << " keys";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, HandValues, testing::Values(DType::f32, DType::f64),
                         [](const auto& precision) { return std::string(dtype_name(precision.param)); });

TEST(Float64, ProductsPastFloat32) {
  Problem problem = problem_of({{2e19}}, {{2e19}, {-2e19}}, {{1}, {2}});
  for (const Variant& variant : variants()) expect_near(solve(with_variant(problem, variant)).weights, {1, 0});
}

}  // namespace
}  // namespace attn::test
