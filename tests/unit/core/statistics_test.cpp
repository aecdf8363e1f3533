#include "attn/core/statistics.hpp"

#include <limits>

#include "attention_helpers.hpp"

namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMost = std::numeric_limits<double>::max();

ValueStatistics of(const std::vector<double>& values) {
  ValueStatistics statistics;
  // In two pieces: how they are cut changes nothing.
  const Index half = static_cast<Index>(values.size() / 2), all = static_cast<Index>(values.size());
  statistics.add(values.data(), half);
  statistics.add(values.data() + half, all - half);
  return statistics;
}

TEST(ValueStatistics, CountsAndExtremes) {
  const ValueStatistics s = of({3, kNaN, -1, kInfinity, -kInfinity, 4});
  EXPECT_EQ(s.count, 3);
  EXPECT_EQ(s.nan, 1);
  EXPECT_EQ(s.infinite, 2);
  EXPECT_EQ(s.minimum, -1);
  EXPECT_EQ(s.maximum, 4);
  EXPECT_EQ(s.mean(), 2);
  EXPECT_EQ(of({}).mean(), 0);
}

TEST(ValueStatistics, MeanIsCompensated) {
  EXPECT_EQ(of({1e16, 1, -1e16, 1}).mean(), 0.5);
  EXPECT_NEAR(of(std::vector<double>(100000, 0.1)).mean(), 0.1, 1e-17);
  EXPECT_NEAR(of({kMost, kMost, kMost / 2, kMost / 2}).mean() / kMost, 0.75, 1e-12);
}

TEST(WeightRows, SumEntropyStrongest) {
  const std::vector<double> weights{0.25, 0, 0.5, 0.25};
  const WeightRow row = weight_row(weights.data(), 4, 3);
  EXPECT_EQ(row.sum, 1);
  EXPECT_NEAR(row.entropy, 1.5 * std::log(2.0), 1e-15);
  EXPECT_EQ(row.strongest, (std::vector<std::pair<Index, double>>{{2, 0.5}, {0, 0.25}, {3, 0.25}}));
  EXPECT_EQ(weight_row(weights.data(), 4, 9).strongest.size(), 4u);
  EXPECT_TRUE(weight_row(weights.data(), 0, 3).strongest.empty());
  EXPECT_EQ(weight_row(weights.data(), 0, 3).entropy, 0);
}

TEST(WeightRows, NaNComesLast) {
  const std::vector<double> weights{kNaN, 0.1, kNaN, 0.9};
  const WeightRow row = weight_row(weights.data(), 4, 3);
  EXPECT_EQ(row.strongest[0].first, 3);
  EXPECT_EQ(row.strongest[1].first, 1);
  EXPECT_EQ(row.strongest[2].first, 0);
}

Difference between(const Rows& a, const Rows& b, double atol = 0, double rtol = 0) {
  Difference difference;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference.add_row(a[i].data(), b[i].data(), static_cast<Index>(a[i].size()), atol, rtol);
  return difference;
}

TEST(Differences, LargestErrorsAndWhere) {
  const Difference d = between({{1, 2}, {3, 5}}, {{1, 2.5}, {3, 4}});
  EXPECT_EQ(d.count, 4);
  EXPECT_EQ(d.outside, 2);
  EXPECT_EQ(d.max_absolute, 1);
  EXPECT_EQ(d.max_absolute_at, 3);
  EXPECT_EQ(d.max_relative, 0.25);
  EXPECT_EQ(d.max_relative_at, 3);
  EXPECT_EQ(d.mean_absolute(), 0.375);
  EXPECT_EQ(d.worst_row_sum, 1);
  EXPECT_EQ(d.worst_row, 1);
  EXPECT_FALSE(d.same());
}

TEST(Differences, ToleranceIsOfTheReference) {
  EXPECT_TRUE(between({{11}}, {{10}}, 0, 0.1).same());
  EXPECT_FALSE(between({{10}}, {{11}}, 0, 0.09).same());
  EXPECT_TRUE(between({{10.5}}, {{10}}, 0.5, 0).same());
  EXPECT_FALSE(between({{10.5}}, {{10}}, 0.4, 0).same());
  EXPECT_TRUE(between({{0}}, {{-0.0}}).same());
}

TEST(Differences, NonFiniteNumbersMustBeInTheSamePlace) {
  EXPECT_TRUE(between({{kNaN, kInfinity, -kInfinity}}, {{kNaN, kInfinity, -kInfinity}}).same());
  for (const auto& [a, b] : {std::pair{kNaN, 1.0}, std::pair{1.0, kNaN}, std::pair{kInfinity, -kInfinity},
                             std::pair{kInfinity, 1.0}, std::pair{1.0, kInfinity}, std::pair{kNaN, kInfinity}}) {
    const Difference d = between({{0, a}}, {{0, b}}, 1, 1);
    EXPECT_EQ(d.outside, 1) << a << " " << b;
    EXPECT_EQ(d.max_absolute_at, 1);
  }
}

TEST(Differences, Cosine) {
  EXPECT_NEAR(between({{1, 0}, {0, 0}}, {{1, 1}, {0, 0}}).cosine(), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(between({{1e-200, 2e-200}, {3e200, 1e200}}, {{1e-200, 2e-200}, {3e200, 1e200}}).cosine(), 1, 1e-15);
  EXPECT_NEAR(between({{kMost, kMost}}, {{-kMost, -kMost}}).cosine(), -1, 1e-15);
  EXPECT_NEAR(between({{1e-300}, {1}}, {{1e-300}, {-1}}).cosine(), -1, 1e-15);
  EXPECT_EQ(between({{0, 0}}, {{0, 0}}).cosine(), 1);
  EXPECT_EQ(between({{0, 0}}, {{0, 1}}).cosine(), 0);
}

}  // namespace
}  // namespace attn::test
