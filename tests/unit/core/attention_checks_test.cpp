#include <limits>

#include "attention_helpers.hpp"

namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An error of attend() for inputs changed by hand.
template <typename Change>
std::string error_with(const Problem& problem, const Change& change, ErrorKind kind = ErrorKind::mismatch) {
  PreparedProblem prepared(problem);
  change(prepared.inputs);
  return error_of(kind, [&] { check_attention(prepared.inputs, problem.options); });
}

TEST(Shapes, BothNumbersAreNamed) {
  const Problem problem = equal_scores(2, 3);
  std::string text = error_with(problem, [](AttentionInputs& in) { in.value->rows = 2; });
  expect_has(text, "3 rows");
  expect_has(text, "2");
  text = error_with(problem, [](AttentionInputs& in) { in.query.columns = 8, in.key.columns = 7; });
  expect_has(text, "8 columns");
  expect_has(text, "7");
  text = error_with(problem, [](AttentionInputs& in) { in.query.columns = in.key.columns = 0; });
  expect_has(text, "0 columns");
  text = error_with(problem, [](AttentionInputs& in) { in.query.batch = 4; });
  expect_has(text, "4 batch items");
  expect_has(text, "1");
  text = error_with(problem, [](AttentionInputs& in) { in.query.heads = 4, in.key.heads = in.value->heads = 3; });
  expect_has(text, "4 query heads");
  expect_has(text, "3 key/value heads");
  text = error_with(problem, [](AttentionInputs& in) { in.query.heads = 0; });
  expect_has(text, "0 query heads");
  text = error_with(problem, [](AttentionInputs& in) { in.value->heads = 2; });
  expect_has(text, "has 2");
}

TEST(Options, MustBeNumbersToComputeWith) {
  Problem problem = equal_scores(1, 1);
  problem.options.scale = kNaN;
  expect_has(error_of(problem, ErrorKind::usage), "scale is NaN");
  problem.options.scale.reset();
  problem.options.softcap = -1;
  expect_has(error_of(problem, ErrorKind::usage), "softcap is -1");
  problem.options.softcap = 0;
  problem.options.kernel = "refrence";
  expect_has(error_of(problem, ErrorKind::usage), "did you mean 'reference'");
}

TEST(Sinks, OneFiniteNumberForEachHead) {
  Problem problem = equal_scores(1, 1);
  problem.sinks = {1, 2};
  expect_has(error_of(problem), "2 sinks are given for 1 head");
  problem.sinks = {kNaN};
  expect_has(error_of(problem), "head 0 is NaN");
  problem.options.allow_nonfinite = true;
  EXPECT_TRUE(std::isnan(solve(problem).weights[0]));
  problem.sinks = {1};
  expect_has(notes_of(problem), "sum to less than 1");
}

TEST(LiveInputs, NonFiniteNumbersAreNamedByPlace) {
  Problem problem = equal_scores(3, 2);
  problem.head_size = 2;
  problem.query = {0, 0, 0, 0, 0, kNaN}, problem.key = {0, 0, 0, 0};
  expect_has(error_of(problem), "query: row 2, column 1 is NaN");
  problem.query[5] = 0;
  problem.key[2] = -kInfinity;
  expect_has(error_of(problem), "key: row 1, column 0 is -Infinity");
  problem.key[2] = 0;
  problem.value[1] = kInfinity;
  expect_has(error_of(problem), "value: row 1, column 0 is Infinity");
}

TEST(LiveInputs, HeadAndBatchAreNamedWhereThereAreSeveral) {
  Problem problem = equal_scores(1, 1);
  problem.batch = 2, problem.heads = problem.kv_heads = 2;
  problem.query = {0, 0, 0, 0}, problem.key = {0, 0, 0, kNaN}, problem.value = {1, 1, 1, 1};
  expect_has(error_of(problem), "key: batch 1, head 1, row 0, column 0 is NaN");
}

TEST(LiveInputs, RowsThatNobodyReadsMayHoldAnything) {
  Problem problem = equal_scores(2, 3);
  problem.masks.key_lengths = {2};
  problem.key[2] = kNaN, problem.value[2] = kInfinity;
  expect_near(solve(problem).output, {1.5, 1.5});
  // One query that may see it makes it live.
  problem.masks.key_lengths.clear();
  problem.masks.causal = true;
  problem.masks.query_offset = 0;
  expect_near(solve(problem).output, {1, 1.5});
  problem.masks.query_offset = 1;
  expect_has(error_of(problem), "key: row 2");
}

TEST(LiveInputs, AQueryWithoutKeysMayHoldAnything) {
  Problem problem = equal_scores(2, 2);
  problem.query[0] = kNaN;
  problem.arrays = {mask_of(MaskKind::keep, {2, 1}, {0, 1})};
  expect_near(solve(problem).output, {0, 1.5});
}

TEST(LiveInputs, AKeyHeadIsLiveForItsGroupOnly) {
  // Heads 0 and 1 read key head 0; the mask of head 2 and 3 hides the NaN in key head 1.
  Problem problem = equal_scores(1, 2);
  problem.heads = 4, problem.kv_heads = 2;
  problem.query.assign(4, 0), problem.key = {0, 0, 0, kNaN}, problem.value = {1, 2, 3, 4};
  problem.arrays = {mask_of(MaskKind::keep, {4, 1, 2}, {1, 1, 1, 1, 1, 0, 1, 0})};
  expect_near(solve(problem).output, {1.5, 1.5, 3, 3});
  problem.arrays[0].numbers.values = {1, 0, 1, 0, 1, 0, 1, 1};
  expect_has(error_of(problem), "key: head 1, row 1");
}

TEST(LiveInputs, AllowedThroughByIeeeRules) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    Problem problem = with_variant(equal_scores(2, 2), variant);
    problem.options.allow_nonfinite = true;
    problem.query[0] = kNaN;
    expect_near(solve(problem).weights, {kNaN, kNaN, .5, .5});
    problem.query[0] = 0;
    problem.value[1] = kInfinity;
    expect_near(solve(problem).output, {kInfinity, kInfinity});
    // -inf · 1 is a score of -inf: no weight, and the value of that key times 0.
    problem = with_variant(problem_of({{1}}, {{-kInfinity}, {0}}, {{5}, {7}}), variant);
    problem.options.allow_nonfinite = true;
    expect_near(solve(problem).weights, {0, 1});
    expect_near(solve(problem).output, {7});
  }
}

TEST(Overflow, ScoreBeyondThePrecisionIsNamed) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    Problem problem = with_variant(problem_of({{1}, {1e200}}, {{1}, {1e200}}, {{1}, {2}}), variant);
    problem.options.scale = 1;
    expect_has(error_of(problem), "query 1 and key 1");
    problem.options.softcap = 5;  // judged before softcap
    expect_has(error_of(problem), "query 1 and key 1");
    problem.options.allow_nonfinite = true;  // nothing in the inputs is non-finite
    expect_has(error_of(problem), "query 1 and key 1");
    problem.options.allow_nonfinite = false;
    problem.arrays = {mask_of(MaskKind::keep, {2, 2}, {1, 1, 1, 0})};  // not an allowed key: no error
    const std::vector<double> weights = solve(problem).weights;
    expect_near({weights.begin() + 2, weights.end()}, {1, 0});

    Problem single = with_variant(problem_of({{1e20}}, {{1e20}}, {{1}}), variant);
    single.dtype = DType::f32;
    single.options.scale = 1;
    expect_has(error_of(single), "float32");
  }
}

TEST(Overflow, OnlyBeforeScalingIsRight) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    Problem problem = with_variant(problem_of({{1e20}}, {{1e20}, {-1e20}}, {{1}, {2}}), variant);
    problem.dtype = DType::f32;
    problem.options.scale = 0.5e-40;
    expect_near(solve(problem).weights, {.731059, .268941});
    Problem wide = with_variant(problem_of({{2e154}}, {{1e154}, {-1e154}}, {{1}, {2}}), variant);
    wide.options.scale = 0.25e-308;
    expect_near(solve(wide).weights, {.731059, .268941});
    // Terms that cancel: 1e400 - 1e400 is 0.
    Problem cancel = with_variant(problem_of({{1e200, 1e200}}, {{1e200, -1e200}, {0, 0}}, {{1}, {2}}), variant);
    expect_near(solve(cancel).weights, {.5, .5});
  }
}

TEST(Overflow, WeightedSumsOfTheLargestValues) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Variant& variant : variants()) {
      SCOPED_TRACE(variant.name());
      const double most = dtype == DType::f32 ? 3.4028234663852886e38 : std::numeric_limits<double>::max();
      Problem problem = with_variant(equal_scores(1, 7), variant);
      problem.dtype = dtype;
      problem.value.assign(7, most);
      const double output = solve(problem).output[0];
      EXPECT_TRUE(std::isfinite(output));
      EXPECT_NEAR(output / most, 1, 1e-6);
      problem.value = {most, -most, most, -most, most, -most, 0};
      EXPECT_NEAR(solve(problem).output[0] / most, 0, 1e-6);
    }
}

TEST(Bias, ScoreAndBiasMayPassThePrecisionTogether) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    Problem problem = with_variant(problem_of({{-2e38}}, {{1}, {1}}, {{1}, {2}}), variant);
    problem.dtype = DType::f32;
    problem.options.scale = 1;
    problem.arrays = {mask_of(MaskKind::add, {2}, {-3e38, -3e38})};
    expect_near(solve(problem).weights, {.5, .5});
    problem.arrays = {mask_of(MaskKind::add, {2}, {-3e38, -2.9e38})};
    expect_near(solve(problem).weights, {0, 1});
  }
}

TEST(EmptyRowsPolicy, ErrorListsTheRows) {
  Problem problem = equal_scores(4, 2);
  problem.arrays = {mask_of(MaskKind::keep, {4, 1}, {0, 0, 1, 0})};
  expect_has(notes_of(problem), "3 rows have no allowed key, so weights and output there are 0: query rows 0-1, 3");
  problem.options.empty_rows = EmptyRows::error;
  expect_has(error_of(problem), "query rows 0-1, 3");
  problem.options.empty_rows = EmptyRows::nan;
  expect_has(notes_of(problem), "are NaN");
}

TEST(EmptyRowsPolicy, NamesBatchAndHeadWhereTheyMatterAndIsCut) {
  Problem problem = equal_scores(1, 1);
  problem.batch = 2, problem.heads = problem.kv_heads = 2;
  problem.query.assign(4, 0), problem.key.assign(4, 0), problem.value.assign(4, 1);
  problem.masks.key_lengths = {1, 0};
  expect_has(notes_of(problem), "2 rows have no allowed key, so weights and output there are 0: batch 1: query row 0");
  problem.masks.key_lengths.clear();
  problem.arrays = {mask_of(MaskKind::keep, {2, 2, 1, 1}, {1, 1, 0, 1})};
  expect_has(notes_of(problem), "1 row has no allowed key, so weights and output there are 0: batch 1, head 0: query row 0");

  Problem many = equal_scores(100, 1);
  std::vector<double> mask(100);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 2 ? 1 : 0;
  many.arrays = {mask_of(MaskKind::keep, {100, 1}, mask)};
  const std::string note = notes_of(many);
  expect_has(note, "50 rows have no allowed key");
  expect_has(note, "query rows 0, 2, 4, 6, 8, 10, 12, 14, ...");
}

TEST(Report, SaysWhatWasDone) {
  Problem problem = equal_scores(2, 3);
  problem.head_size = 1;
  problem.masks.causal = true;
  problem.masks.align = Align::bottom_right;
  problem.masks.window_left = 2, problem.masks.window_right = 0;
  problem.options.kernel = "reference";
  const AttentionReport report = solve(problem).report;
  EXPECT_EQ(report.kernel, "reference");
  EXPECT_EQ(report.simd, "");
  EXPECT_EQ(report.scale, 1);
  EXPECT_EQ(report.mask_text, "causal, bottom-right; window 2,0, bottom-right");
  EXPECT_TRUE(report.notes.empty());
  EXPECT_EQ(solve(equal_scores(1, 1)).report.mask_text, "none");
}

}  // namespace
}  // namespace attn::test
