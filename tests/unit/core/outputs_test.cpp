#include <limits>

#include "attention_helpers.hpp"

namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Three queries, two heads, whose weights all differ.
Problem two_heads() {
  Problem problem;
  problem.heads = problem.kv_heads = 2;
  problem.queries = 3, problem.keys = 2, problem.head_size = 1, problem.value_size = 1;
  problem.query = {0, 1, 2, 3, 4, 5}, problem.key = {0, 1, 1, 0}, problem.value = {1, 2, 3, 4};
  return problem;
}

double first_weight(double score_difference) { return 1 / (1 + std::exp(-score_difference)); }

TEST(Stages, RawCappedMasked) {
  Problem problem = problem_of({{1}}, {{10}, {5}, {-4}}, {{0}, {0}, {0}});
  problem.options.scale = 0.5;
  problem.options.softcap = 2;
  problem.arrays = {mask_of(MaskKind::add, {3}, {0, 3, -kInfinity})};
  const auto scores = [&](Stage stage) {
    const Solution solution = solve(problem, {.scores = true, .stage = stage});
    EXPECT_TRUE(solution.rows_in_order);
    return solution.scores;
  };
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    problem.options.kernel = variant.kernel, problem.options.simd = variant.simd;
    expect_near(scores(Stage::raw), {5, 2.5, -2});
    expect_near(scores(Stage::capped), {2 * std::tanh(2.5), 2 * std::tanh(1.25), -2 * std::tanh(1.0)});
    expect_near(scores(Stage::masked), {2 * std::tanh(2.5), 3 + 2 * std::tanh(1.25), -kInfinity});
  }
}

TEST(Stages, BlockedCellsAreShownByIeeeRules) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    Problem problem =
        with_variant(problem_of({{1e30}}, {{1}, {kNaN}, {kInfinity}, {1e30}, {2}}, {{1}, {2}, {3}, {4}, {5}}), variant);
    problem.dtype = DType::f32;
    problem.options.scale = 1;
    problem.arrays = {mask_of(MaskKind::keep, {5}, {1, 0, 0, 0, 0})};
    expect_near(solve(problem, {.scores = true}).scores, {1e30, kNaN, kInfinity, kInfinity, 2e30}, 1e24);
    problem.options.softcap = 3;
    expect_near(solve(problem, {.scores = true, .stage = Stage::capped}).scores, {3, kNaN, 3, 3, 3});
    expect_near(solve(problem, {.scores = true, .stage = Stage::masked}).scores,
                {3, -kInfinity, -kInfinity, -kInfinity, -kInfinity});
    expect_near(solve(problem, {.scores = true}).weights, {1, 0, 0, 0, 0});
  }
}

TEST(Stages, AFiniteScoreNeverLooksBlocked) {
  for (const Variant& variant : variants()) {
    Problem problem = with_variant(problem_of({{-2e38}}, {{1}}, {{1}}), variant);
    problem.dtype = DType::f32;
    problem.options.scale = 1;
    problem.arrays = {mask_of(MaskKind::add, {1}, {-3e38})};
    EXPECT_TRUE(std::isfinite(solve(problem, {.scores = true, .stage = Stage::masked}).scores[0])) << variant.name();
  }
}

TEST(Heads, ChosenInTheOrderGiven) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    const Problem problem = with_variant(two_heads(), variant);
    const std::vector<double> all = solve(problem).weights;
    for (int query = 0; query < 3; ++query) {
      EXPECT_NEAR(all[static_cast<std::size_t>(2 * query)], first_weight(-query), 1e-12);
      EXPECT_NEAR(all[static_cast<std::size_t>(6 + 2 * query)], first_weight(query + 3), 1e-12);
    }
    const std::vector<double> first(all.begin(), all.begin() + 6), second(all.begin() + 6, all.end());
    EXPECT_EQ(solve(problem, {.heads = {1}}).weights, second);
    EXPECT_EQ(solve(problem, {.heads = {0, 1}}).weights, all);
    std::vector<double> turned = second;
    turned.insert(turned.end(), first.begin(), first.end());
    const Solution solution = solve(problem, {.scores = true, .heads = {1, 0}, .threads = 3});
    EXPECT_EQ(solution.weights, turned);
    EXPECT_TRUE(solution.rows_in_order);
    expect_near(solution.scores, {0, 0, 0, 1, 0, 2, 3, 0, 4, 0, 5, 0});  // scores are always those of all heads
  }
}

TEST(Heads, ReducedOverTheChosenOnes) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name());
    const Problem problem = with_variant(two_heads(), variant);
    const std::vector<double> all = solve(problem).weights;
    const Solution mean = solve(problem, {.scores = true, .reduce = Reduce::mean, .threads = 2});
    ASSERT_EQ(mean.weights.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(mean.weights[i], (all[i] + all[i + 6]) / 2, 1e-15);
    EXPECT_EQ(mean.scores.size(), 12u);
    EXPECT_EQ(mean.output, solve(problem).output);  // the reduction changes what is written, never the output
    const std::vector<double> most = solve(problem, {.reduce = Reduce::max}).weights,
                              least = solve(problem, {.reduce = Reduce::min}).weights;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(most[i], std::max(all[i], all[i + 6]));
      EXPECT_EQ(least[i], std::min(all[i], all[i + 6]));
    }
    const Solution one = solve(problem, {.heads = {1}, .reduce = Reduce::mean});
    EXPECT_EQ(one.weights, std::vector<double>(all.begin() + 6, all.end()));
  }
}

TEST(Heads, NaNOfOneHeadIsNotLost) {
  for (const Reduce reduce : {Reduce::mean, Reduce::max, Reduce::min})
    for (const int empty : {0, 1}) {
      Problem problem = two_heads();
      problem.options.empty_rows = EmptyRows::nan;
      problem.arrays = {mask_of(MaskKind::keep, {2, 1, 1}, {empty == 0 ? 0.0 : 1.0, empty == 1 ? 0.0 : 1.0})};
      for (const Variant& variant : variants())
        for (const double weight : solve(with_variant(problem, variant), {.reduce = reduce}).weights)
          EXPECT_TRUE(std::isnan(weight));
    }
}

TEST(Heads, AHeadThatIsNotThere) {
  const std::string text = error_of(ErrorKind::usage, [] { solve(two_heads(), {.heads = {0, 2}}); });
  expect_has(text, "no head 2");
  expect_has(text, "0 to 1");
}

TEST(Batches, ItemsByThemselves) {
  for (const Variant& variant : variants()) {
    Problem problem = with_variant(two_heads(), variant);
    const Solution one = solve(problem);
    problem.batch = 2;
    for (std::vector<double>* all : {&problem.query, &problem.key, &problem.value}) {
      std::vector<double> zeros(all->size(), 0);
      all->insert(all->begin(), zeros.begin(), zeros.end());
    }
    const Solution two = solve(problem);
    EXPECT_EQ(std::vector<double>(two.weights.begin() + 12, two.weights.end()), one.weights) << variant.name();
    EXPECT_EQ(std::vector<double>(two.output.begin() + 6, two.output.end()), one.output) << variant.name();
  }
}

TEST(Outputs, NothingWantedNothingComputed) {
  Problem problem = two_heads();
  const Solution solution = solve(problem, {.weights = false, .output = false, .lse = false});
  EXPECT_TRUE(solution.weights.empty() && solution.scores.empty());
  PreparedProblem prepared(problem);
  prepared.inputs.value.reset();
  double cell = 0;
  AttentionOutputs outputs;
  outputs.output = MutableTensorView{DType::f64, &cell, 1, 1, 1};
  error_of(ErrorKind::usage, [&] { attend(prepared.inputs, problem.options, outputs, {}); });
}

/// Fails at a row, as a full disk would.
class FailingSink final : public RowSink {
 public:
  void encode(const RowBlock&, std::string&) const override {}
  void append(const RowBlock& rows, std::string_view) override {
    if (rows.first + rows.count > 100) fail(ErrorKind::output, "disk full");
  }
  void finish() override {}
};

TEST(Outputs, AFailingSinkEndsTheRun) {
  for (const Variant& variant : variants())
    for (const int threads : {1, 3}) {
      const Problem problem = with_variant(equal_scores(500, 40), variant);
      const PreparedProblem prepared(problem);
      FailingSink failing;
      CollectingSink scores;
      AttentionOutputs outputs;
      outputs.weights.sinks = {&failing};
      outputs.scores = {&scores};
      RunContext run;
      run.threads = threads;
      EXPECT_EQ(error_of(ErrorKind::output, [&] { attend(prepared.inputs, problem.options, outputs, run); }), "disk full");
    }
}

TEST(Outputs, TheFirstOverflowIsNamedWhateverTheThreads) {
  for (const Variant& variant : variants()) {
    Problem problem = with_variant(equal_scores(400, 30), variant);
    problem.options.scale = 1;
    problem.key.assign(30, 1);
    problem.key[7] = 1e200;
    for (const std::size_t query : {150u, 151u, 390u}) problem.query[query] = 1e200;
    const std::string first = error_of(problem);
    expect_has(first, "query 150 and key 7");
    for (const int threads : {2, 3})
      EXPECT_EQ(error_of(ErrorKind::mismatch, [&] { solve(problem, {.threads = threads}); }), first);
  }
}

TEST(Outputs, MemoryIsRefusedNotTaken) {
  const Problem problem = equal_scores(2, 1000);
  const PreparedProblem prepared(problem);
  CollectingSink weights;
  AttentionOutputs outputs;
  outputs.weights.sinks = {&weights};
  RunContext run;
  run.budget = MemoryBudget(1000);
  error_of(ErrorKind::memory, [&] { attend(prepared.inputs, problem.options, outputs, run); });
}

}  // namespace
}  // namespace attn::test
