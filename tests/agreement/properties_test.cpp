#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "support/random_problem.hpp"
#include "support/verify.hpp"

// Facts about attention that hold whatever the numbers are: no reference is needed to see them broken. Every kernel.
namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Case {
  Variant variant;
  DType dtype;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Variant& variant : variants())
    for (const DType dtype : {DType::f32, DType::f64}) all.push_back({variant, dtype});
  return all;
}

class Properties : public testing::TestWithParam<int> {
 protected:
  Case which() const { return cases()[static_cast<std::size_t>(GetParam())]; }
  double unit() const { return which().dtype == DType::f32 ? 0x1p-24 : 0x1p-53; }

  double round(double x) const { return which().dtype == DType::f32 ? static_cast<double>(static_cast<float>(x)) : x; }

  std::vector<double> normal(Dice& dice, Index count, double strength = 1) const {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = round(strength * dice.normal());
    return values;
  }

  /// B = 1, ragged sizes, N(0,1).
  Problem problem(Dice& dice, Index heads = 2, Index kv_heads = 2, Index n = 37, Index m = 143, Index d = 11, Index v = 9) const {
    Problem p;
    p.dtype = which().dtype;
    p.options.kernel = which().variant.kernel, p.options.simd = which().variant.simd;
    p.heads = heads, p.kv_heads = kv_heads, p.queries = n, p.keys = m, p.head_size = d, p.value_size = v;
    p.query = normal(dice, heads * n * d);
    p.key = normal(dice, kv_heads * m * d);
    p.value = normal(dice, kv_heads * m * v);
    return p;
  }

  /// Both are right within their limits if they differ by no more than the sum of them (half of E).
  void expect_close(const Problem& p, const Solution& a, const Solution& b) const {
    const Oracle oracle(p);
    for (Index h = 0; h < p.heads; ++h)
      for (Index i = 0; i < p.queries; ++i) {
        const OracleRow row = oracle.row(0, h, i);
        const ErrorBound bound(p, row);
        for (Index c = 0; c < p.value_size; ++c) {
          const std::size_t at = static_cast<std::size_t>((h * p.queries + i) * p.value_size + c);
          ASSERT_LE(std::abs(a.output[at] - b.output[at]),
                    static_cast<double>(bound.output(row, static_cast<std::size_t>(c))) / 2)
              << "head " << h << " query " << i << " column " << c;
        }
      }
  }
};

/// Rows of a [heads, rows, columns] array in another order.
std::vector<double> permuted(const std::vector<double>& all, Index heads, Index columns, const std::vector<Index>& order) {
  std::vector<double> result;
  const Index rows = static_cast<Index>(order.size());
  for (Index h = 0; h < heads; ++h)
    for (const Index row : order)
      for (Index c = 0; c < columns; ++c) result.push_back(all[static_cast<std::size_t>((h * rows + row) * columns + c)]);
  return result;
}

TEST_P(Properties, PermutingKeysAndValuesTogether) {
  Dice dice(1);
  Problem p = problem(dice);
  const Solution before = solve(p);
  std::vector<Index> order(static_cast<std::size_t>(p.keys));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[static_cast<std::size_t>(dice.between(0, static_cast<Index>(i)))]);
  p.key = permuted(p.key, p.kv_heads, p.head_size, order);
  p.value = permuted(p.value, p.kv_heads, p.value_size, order);
  expect_close(p, solve(p), before);
}

TEST_P(Properties, AddingOneVectorToEveryKey) {
  Dice dice(2);
  Problem p = problem(dice);
  for (double& k : p.key) k = static_cast<double>(dice.between(-3, 3));  // whole numbers: the sums below are exact
  const Solution before = solve(p);
  std::vector<double> shift(static_cast<std::size_t>(p.head_size));
  for (double& x : shift) x = static_cast<double>(dice.between(-2, 2));
  for (std::size_t i = 0; i < p.key.size(); ++i) p.key[i] += shift[i % shift.size()];
  expect_close(p, solve(p), before);
}

TEST_P(Properties, DuplicatingEveryKeyAndValue) {
  Dice dice(3);
  Problem p = problem(dice);
  const Solution before = solve(p);
  const auto twice = [&](const std::vector<double>& all, Index columns) {
    std::vector<double> result;
    const Index plane = p.keys * columns;
    for (Index h = 0; h < p.kv_heads; ++h)
      for (int copy = 0; copy < 2; ++copy) result.insert(result.end(), all.begin() + h * plane, all.begin() + (h + 1) * plane);
    return result;
  };
  Problem doubled = p;
  doubled.key = twice(p.key, p.head_size), doubled.value = twice(p.value, p.value_size), doubled.keys = 2 * p.keys;
  expect_close(doubled, solve(doubled), before);
}

TEST_P(Properties, CausalRowsDoNotSeeWhatComesLater) {
  Dice dice(4);
  Problem p = problem(dice, 1, 1, 130, 130);
  p.masks.causal = true;
  const Solution full = solve(p);
  Problem prefix = p;
  prefix.queries = prefix.keys = 71;
  prefix.query.resize(static_cast<std::size_t>(71 * p.head_size));
  prefix.key.resize(static_cast<std::size_t>(71 * p.head_size));
  prefix.value.resize(static_cast<std::size_t>(71 * p.value_size));
  Solution cut = full;
  cut.output.resize(static_cast<std::size_t>(71 * p.value_size));
  expect_close(prefix, solve(prefix), cut);
}

TEST_P(Properties, TheLastQueryAloneIsTheLastRow) {
  Dice dice(5);
  Problem p = problem(dice, 1, 1, 60, 130);
  p.masks.causal = true;
  p.masks.align = Align::bottom_right;
  const Solution full = solve(p);
  Problem last = p;
  last.queries = 1;
  last.query.assign(p.query.end() - p.head_size, p.query.end());
  Solution row = full;
  row.output.assign(full.output.end() - p.value_size, full.output.end());
  expect_close(last, solve(last), row);
}

TEST_P(Properties, GroupedHeadsAreRepeatedHeadsBitForBit) {
  Dice dice(6);
  const Problem grouped = problem(dice, 6, 2, 21, 77);
  Problem repeated = grouped;
  repeated.kv_heads = 6;
  repeated.key.clear(), repeated.value.clear();
  for (Index h = 0; h < 6; ++h) {
    const Index k = grouped.keys * grouped.head_size, v = grouped.keys * grouped.value_size;
    repeated.key.insert(repeated.key.end(), grouped.key.begin() + h / 3 * k, grouped.key.begin() + (h / 3 + 1) * k);
    repeated.value.insert(repeated.value.end(), grouped.value.begin() + h / 3 * v, grouped.value.begin() + (h / 3 + 1) * v);
  }
  EXPECT_TRUE(solve(grouped) == solve(repeated));
}

TEST_P(Properties, ZeroQueriesGiveTheMeanOfTheValues) {
  Dice dice(7);
  Problem p = problem(dice, 1, 1);
  std::fill(p.query.begin(), p.query.end(), 0.0);
  const Solution solution = solve(p);
  for (Index c = 0; c < p.value_size; ++c) {
    Wide sum = 0, magnitude = 0;
    for (Index j = 0; j < p.keys; ++j) {
      const Wide value = p.value[static_cast<std::size_t>(j * p.value_size + c)];
      sum += value, magnitude += std::abs(value);
    }
    const Wide m = static_cast<Wide>(p.keys);
    for (Index i = 0; i < p.queries; ++i)
      EXPECT_NEAR(solution.output[static_cast<std::size_t>(i * p.value_size + c)], static_cast<double>(sum / m),
                  40 * unit() * static_cast<double>(magnitude / m));
  }
}

TEST_P(Properties, OneHugeAlignedKeyGivesItsValueExactly) {
  Dice dice(8);
  Problem p = problem(dice, 1, 1);
  const Index chosen = 101;
  for (Index i = 0; i < p.queries; ++i) p.query[static_cast<std::size_t>(i * p.head_size)] = 100;
  for (Index j = 0; j < p.keys; ++j) p.key[static_cast<std::size_t>(j * p.head_size)] = j == chosen ? 100 : 0;
  const Solution solution = solve(p);
  for (Index i = 0; i < p.queries; ++i)
    for (Index c = 0; c < p.value_size; ++c)
      EXPECT_EQ(solution.output[static_cast<std::size_t>(i * p.value_size + c)],
                p.value[static_cast<std::size_t>(chosen * p.value_size + c)]);
}

TEST_P(Properties, ValuesOfOneGiveOneAndRowsSumToOne) {
  Dice dice(9);
  Problem p = problem(dice);
  std::fill(p.value.begin(), p.value.end(), 1.0);
  const Solution solution = solve(p);
  for (const double output : solution.output) EXPECT_NEAR(output, 1, 40 * unit());
  for (std::size_t row = 0; row < solution.weights.size(); row += static_cast<std::size_t>(p.keys)) {
    double sum = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(p.keys); ++j) sum += solution.weights[row + j];
    EXPECT_NEAR(sum, 1, 40 * unit());
  }
}

TEST_P(Properties, OutputsLieBetweenTheValues) {
  Dice dice(10);
  const Problem p = problem(dice, 1, 1);
  const Solution solution = solve(p);
  for (Index c = 0; c < p.value_size; ++c) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (Index j = 0; j < p.keys; ++j) {
      least = std::min(least, p.value[static_cast<std::size_t>(j * p.value_size + c)]);
      most = std::max(most, p.value[static_cast<std::size_t>(j * p.value_size + c)]);
    }
    for (Index i = 0; i < p.queries; ++i) {
      const double output = solution.output[static_cast<std::size_t>(i * p.value_size + c)];
      EXPECT_TRUE(output >= least - 40 * unit() && output <= most + 40 * unit());
    }
  }
}

TEST_P(Properties, LinearInTheValues) {
  Dice dice(11);
  Problem p = problem(dice);
  for (double& v : p.value) v = static_cast<double>(dice.between(-8, 8));
  const Solution once = solve(p);
  Problem scaled = p;
  for (double& v : scaled.value) v *= 0.25;  // a power of two: exact
  const Solution quarter = solve(scaled);
  for (std::size_t i = 0; i < once.output.size(); ++i) EXPECT_NEAR(quarter.output[i], once.output[i] / 4, unit() * 100);
}

TEST_P(Properties, ScalingTheQueryIsScalingTheScale) {
  Dice dice(12);
  Problem p = problem(dice);
  p.options.scale = 0.5;
  const Solution half = solve(p);
  p.options.scale = 1;
  for (double& q : p.query) q *= 0.5;
  expect_close(p, solve(p), half);
}

/// Problems in which some keys are hidden from every query, one for each kind of mask.
std::vector<std::pair<std::string, Problem>> hiding_keys(const Problem& p) {
  const Index m = p.keys, n = p.queries;
  std::vector<std::pair<std::string, Problem>> all;
  const auto add = [&](const std::string& name) -> Problem& {
    all.emplace_back(name, p);
    return all.back().second;
  };
  add("causal").masks.causal = true;
  add("window").masks.window_right = 3;
  add("key lengths").masks.key_lengths = {m / 2};
  Problem& documents = add("documents");
  for (Index j = 0; j < m; ++j) documents.masks.key_documents.push_back(j % 3);
  documents.masks.query_documents.assign(static_cast<std::size_t>(n), 1);
  std::vector<double> keep, add_row;
  for (Index j = 0; j < m; ++j) {
    keep.push_back(j % 4 != 2);
    add_row.push_back(j % 4 != 2 ? 0.5 : -std::numeric_limits<double>::infinity());
  }
  add("keep").arrays = {{{{m}, keep, DType::boolean}, MaskKind::keep}};
  std::vector<double> block;
  for (const double cell : keep) block.push_back(1 - cell);
  add("block").arrays = {{{{1, m}, block, DType::f32}, MaskKind::block}};
  add("add").arrays = {{{{m}, add_row, DType::f64}, MaskKind::add}};
  return all;
}

TEST_P(Properties, PoisonBehindEveryMaskChangesNoBit) {
  Dice dice(13);
  const Problem plain = problem(dice, 2, 1, 37, 143);
  for (const double softcap : {0.0, 4.0})
    for (auto& [name, clean] : hiding_keys(plain)) {
      clean.options.softcap = softcap;
      const OracleMasks masks(clean);
      const Solution before = solve(clean);
      for (const double poison : {kNaN, std::numeric_limits<double>::infinity(), round(1e30), -round(1e30)}) {
        Problem poisoned = clean;
        Index hidden = 0;
        for (Index j = 0; j < clean.keys; ++j) {
          if (masks.live_key(0, 0, j)) continue;
          ++hidden;
          for (Index c = 0; c < clean.head_size; ++c) poisoned.key[static_cast<std::size_t>(j * clean.head_size + c)] = poison;
          for (Index c = 0; c < clean.value_size; ++c)
            poisoned.value[static_cast<std::size_t>(j * clean.value_size + c)] = poison;
        }
        ASSERT_GT(hidden, 10) << name;
        EXPECT_TRUE(solve(poisoned) == before) << name << ", softcap " << softcap << ", poison " << poison;
      }
    }
}

/// Wherever a number that is not finite is read, the run ends and names it, whether it is looked for before or after.
TEST_P(Properties, ALiveNumberThatIsNotFiniteIsAlwaysNamed) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::uint64_t seed = 300; seed < 600; ++seed) {
    Dice dice(seed);
    Problem p = problem(dice, 2, dice.pick({Index{1}, Index{2}}), dice.between(1, 5), dice.between(1, 300), dice.between(1, 9),
                        dice.between(1, 9));
    const double strength = dice.pick({0.0, 1.0, 10.0, 30.0});  // weights down to 0 too
    for (double& q : p.query) q = round(q * strength);
    if (dice.chance(0.5)) p.masks.window_left = 40, p.masks.align = Align::bottom_right;
    const OracleMasks masks(p);
    const bool in_key = dice.chance(0.5);
    std::vector<double>& all = in_key ? p.key : p.value;
    const Index columns = in_key ? p.head_size : p.value_size;
    const Index at = dice.between(0, static_cast<Index>(all.size()) - 1), row = at / columns % p.keys, g = at / columns / p.keys;
    all[static_cast<std::size_t>(at)] = dice.pick({kNaN, infinity, -infinity});
    const Wanted wanted{.weights = dice.chance(0.5), .lse = false};
    std::string message = "none";
    try {
      solve(p, wanted);
    } catch (const Error& error) {
      message = error.message();
    }
    const std::string named = concat("row ", row, ", column ", at % columns, " is ");
    if (masks.live_key(0, g, row))
      ASSERT_NE(message.find(named), std::string::npos) << message << ", not " << named << ", seed " << seed;
    else
      ASSERT_EQ(message, "none") << "seed " << seed;
  }
}

TEST_P(Properties, NaNInOneKeyReachesExactlyTheRowsThatSeeIt) {
  Dice dice(14);
  Problem p = problem(dice, 2, 1, 100, 143);
  p.masks.causal = true;
  p.options.allow_nonfinite = true;
  const Solution clean = solve(p);
  const Index key = 60;
  p.key[static_cast<std::size_t>(key * p.head_size + 3)] = kNaN;
  const Solution solution = solve(p);
  for (Index h = 0; h < p.heads; ++h)
    for (Index i = 0; i < p.queries; ++i)
      for (Index c = 0; c < p.value_size; ++c) {
        const std::size_t at = static_cast<std::size_t>((h * p.queries + i) * p.value_size + c);
        if (i >= key)
          EXPECT_TRUE(std::isnan(solution.output[at])) << "query " << i;
        else
          EXPECT_EQ(solution.output[at], clean.output[at]) << "query " << i;
      }
}

TEST_P(Properties, NaNInOneValueReachesItsColumnOfTheRowsThatSeeIt) {
  Dice dice(15);
  Problem p = problem(dice, 1, 1, 100, 143);
  p.masks.causal = true;
  p.options.allow_nonfinite = true;
  const Solution clean = solve(p);
  p.value[static_cast<std::size_t>(60 * p.value_size + 3)] = kNaN;
  const Solution solution = solve(p);
  EXPECT_EQ(solution.weights, clean.weights);
  for (Index i = 0; i < p.queries; ++i)
    for (Index c = 0; c < p.value_size; ++c) {
      const std::size_t at = static_cast<std::size_t>(i * p.value_size + c);
      EXPECT_EQ(std::isnan(solution.output[at]), i >= 60 && c == 3) << "query " << i << " column " << c;
    }
}

TEST_P(Properties, EmptyRowsAreZeroToTheLastColumn) {
  Dice dice(16);
  Problem p = problem(dice, 1, 1, 100, 143);
  std::vector<double> keep;
  for (Index i = 0; i < p.queries; ++i)
    for (Index j = 0; j < p.keys; ++j) keep.push_back(i % 3 != 0 && (i + j) % 5 != 0);
  p.arrays = {{{{p.queries, p.keys}, keep, DType::u8}, MaskKind::keep}};
  const Solution solution = solve(p);
  EXPECT_EQ(solution.report.empty_rows, 34);
  for (Index i = 0; i < p.queries; i += 3) {
    for (Index c = 0; c < p.value_size; ++c) EXPECT_EQ(solution.output[static_cast<std::size_t>(i * p.value_size + c)], 0);
    for (Index j = 0; j < p.keys; ++j) EXPECT_EQ(solution.weights[static_cast<std::size_t>(i * p.keys + j)], 0);
    EXPECT_EQ(solution.lse[static_cast<std::size_t>(i)], -std::numeric_limits<double>::infinity());
  }
  EXPECT_EQ(Verifier(p, solution).verify().failure, "");
}

TEST_P(Properties, ThreadsChangeNoBit) {
  Dice dice(17);
  Problem p = problem(dice, 4, 2, 130, 300);
  p.masks.causal = true;
  p.masks.query_offset = 20;
  for (const Reduce reduce : {Reduce::none, Reduce::mean}) {
    const Wanted one{.scores = true, .heads = {2, 0}, .reduce = reduce};
    const Solution first = solve(p, one);
    for (const int threads : {2, 3, 7}) {
      Wanted more = one;
      more.threads = threads;
      EXPECT_TRUE(solve(p, more) == first) << threads << " threads";
    }
  }
}

/// A row must not depend on its place in the run: the same query alone, first, last, in any company.
TEST_P(Properties, ARowDoesNotDependOnItsCompany) {
  Dice dice(18);
  const Problem p = problem(dice, 1, 1, 53, 143);
  const Solution all = solve(p);
  for (const Index i : {Index{0}, Index{1}, Index{23}, Index{24}, Index{52}}) {
    Problem alone = p;
    alone.queries = 1;
    alone.query.assign(p.query.begin() + i * p.head_size, p.query.begin() + (i + 1) * p.head_size);
    const Solution one = solve(alone);
    Solution row = all;
    row.output.assign(all.output.begin() + i * p.value_size, all.output.begin() + (i + 1) * p.value_size);
    expect_close(alone, one, row);
  }
}

TEST_P(Properties, RaggedSizesAroundEveryBlock) {
  std::uint64_t seed = 100;
  for (const Index m : {1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 257})
    for (const Index n : {1, 2, 5, 23, 24, 25}) {
      Dice dice(++seed);
      const Problem p = problem(dice, 1, 1, n, m, dice.between(1, 20), dice.between(1, 20));
      ASSERT_EQ(Verifier(p, solve(p)).verify().failure, "") << describe(p);
    }
  for (const Index size : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65, 96, 100, 128, 130}) {
    Dice dice(++seed);
    const Problem p = problem(dice, 1, 1, 30, 40, size, 131 - size);
    ASSERT_EQ(Verifier(p, solve(p)).verify().failure, "") << describe(p);
  }
}

TEST_P(Properties, LongRowsStayWithinTheBound) {
  for (const Flavour flavour : {Flavour::normal, Flavour::rising}) {
    Dice dice(200);
    Problem p = problem(dice, 1, 1, 5, 3000, 8, 4);
    if (flavour == Flavour::rising)
      for (Index j = 0; j < p.keys; ++j)
        for (Index c = 0; c < p.head_size; ++c)
          p.key[static_cast<std::size_t>(j * p.head_size + c)] = round(0.002 * static_cast<double>(j));
    std::fill(p.value.begin(), p.value.end(), round(1.1));
    ASSERT_EQ(Verifier(p, solve(p)).verify().failure, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Properties, testing::Range(0, static_cast<int>(cases().size())), [](const auto& which) {
  const Case one = cases()[static_cast<std::size_t>(which.param)];
  return one.variant.kernel + one.variant.simd + std::string(dtype_name(one.dtype));
});

}  // namespace
}  // namespace attn::test
