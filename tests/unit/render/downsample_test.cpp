#include "render/downsample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "picture_support.hpp"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The definition: extremes over the allowed cells of one block, one by one.
struct Extremes {
  double high = -kInfinity, low = kInfinity, sum = 0;
  Index count = 0;
  bool has_nan = false;
};

Extremes plain_block(const std::vector<double>& cells, const PoolPlan& plan, const Visibility* visibility, Index panel, Index row,
                     Index column) {
  Extremes found;
  for (Index q = row * plan.block_queries; q < std::min(plan.queries, (row + 1) * plan.block_queries); ++q) {
    std::vector<Range> allowed{{0, plan.keys}};
    if (visibility) visibility->allowed_keys(panel * plan.queries + q, allowed);
    for (Index k = column * plan.block_keys; k < std::min(plan.keys, (column + 1) * plan.block_keys); ++k) {
      const bool shown = std::any_of(allowed.begin(), allowed.end(), [&](Range r) { return k >= r.begin && k < r.end; });
      const double x = cells[static_cast<std::size_t>((panel * plan.queries + q) * plan.keys + k)];
      if (!shown || x == -kInfinity) continue;
      found.has_nan = found.has_nan || std::isnan(x);
      found.high = std::max(found.high, x);
      found.low = std::min(found.low, x);
      found.sum += x;
      ++found.count;
    }
  }
  return found;
}

PooledCells pool(const std::vector<double>& cells, const PoolPlan& plan, const Visibility* visibility, Index step, bool single) {
  PooledCells pooled(plan, visibility, MemoryBudget());
  const std::vector<float> floats(cells.begin(), cells.end());
  const Index rows = plan.panels * plan.queries;
  for (Index first = 0; first < rows; first += step) {
    const Index count = std::min(step, rows - first);
    RowBlock block{first, count, plan.keys, DType::f64, cells.data() + first * plan.keys, plan.keys};
    if (single) block.dtype = DType::f32, block.data = floats.data() + first * plan.keys;
    std::string encoded;
    pooled.encode(block, encoded);
    pooled.append(encoded);
  }
  pooled.finish();
  return pooled;
}

std::vector<double> random_cells(Index count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> cells;
  for (Index i = 0; i < count; ++i) cells.push_back(static_cast<float>(std::ldexp(static_cast<double>(random()), -31) - 1));
  return cells;
}

void expect_as_defined(const std::vector<double>& cells, const PoolPlan& plan, const Visibility* visibility,
                       const PooledCells& pooled) {
  for (Index panel = 0; panel < plan.panels; ++panel)
    for (Index row = 0; row < plan.rows(); ++row)
      for (Index column = 0; column < plan.columns(); ++column) {
        const Extremes want = plain_block(cells, plan, visibility, panel, row, column);
        const double high = pooled.high(panel, row)[column], low = pooled.low(panel, row)[column];
        if (want.has_nan) {
          EXPECT_TRUE(std::isnan(high));
        } else if (plan.mean && want.count > 0) {
          EXPECT_NEAR(high, want.sum / static_cast<double>(want.count), 1e-12);
        } else if (want.count == 0) {
          EXPECT_EQ(high, -kInfinity);
        } else {
          EXPECT_EQ(high, want.high);
          EXPECT_EQ(low, want.low);
        }
      }
}

TEST(PooledCells, AreTheExtremesOfTheirBlocks) {
  for (const bool mean : {false, true})
    for (const bool single : {false, true})
      for (const Index step : {1, 4, 64}) {
        const PoolPlan plan{3, 11, 2500, 4, 7, mean};
        std::vector<double> cells = random_cells(3 * 11 * 2500, 5);
        cells[17] = cells[30000] = std::nan("");
        cells[8000] = -kInfinity;
        const test::CausalVisibility causal(11, 3);
        for (const Visibility* visibility : {static_cast<const Visibility*>(nullptr), static_cast<const Visibility*>(&causal)})
          expect_as_defined(cells, plan, visibility, pool(cells, plan, visibility, step, single));
      }
}

TEST(PooledCells, WithoutPoolingEveryCellKeepsItsValue) {
  const PoolPlan plan{1, 5, 6, 1, 1, false};
  const std::vector<double> cells = {0.615, 0.1, -2, 1e300, 0,  5e-324, 7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16,    17,  18, 19,    20, 21,     22, 23, 24, 25, 26, 27, 28, 29, 30};
  const PooledCells pooled = pool(cells, plan, nullptr, 2, false);
  for (Index row = 0; row < 5; ++row)
    for (Index column = 0; column < 6; ++column)
      EXPECT_EQ(pooled.high(0, row)[column], cells[static_cast<std::size_t>(row * 6 + column)]);
}

TEST(PooledCells, ASinglePeakIsKept) {
  const Index n = 4096;
  const PoolPlan plan{1, n, n, 16, 16, false};
  PooledCells pooled(plan, nullptr, MemoryBudget());
  std::vector<float> row(static_cast<std::size_t>(n), 0.0f);
  for (Index q = 0; q < n; ++q) {
    row[static_cast<std::size_t>(q)] = 1.0f;
    std::string encoded;
    pooled.encode({q, 1, n, DType::f32, row.data(), n}, encoded);
    pooled.append(encoded);
    row[static_cast<std::size_t>(q)] = 0.0f;
  }
  pooled.finish();
  for (Index i = 0; i < plan.rows(); ++i)
    for (Index j = 0; j < plan.columns(); ++j) EXPECT_EQ(pooled.high(0, i)[j], i == j ? 1 : 0);
}

TEST(PooledCells, RowsAreEmptyWhenNoQueryOfThemSeesAKey) {
  const test::CausalVisibility causal(4, 2);
  const std::vector<double> cells(2 * 4 * 4, 0.5);
  const PooledCells single = pool(cells, {2, 4, 4, 1, 1, false}, &causal, 3, true);
  EXPECT_TRUE(single.is_empty_row(0, 2));
  EXPECT_TRUE(single.is_empty_row(1, 2));
  EXPECT_FALSE(single.is_empty_row(0, 3));
  const PooledCells pairs = pool(cells, {2, 4, 4, 2, 2, false}, &causal, 3, true);
  EXPECT_FALSE(pairs.is_empty_row(0, 1));
}

TEST(PooledCells, StrideAndPanelsAreFollowed) {
  // Rows of 3 in memory of 5 columns each; two panels of two queries.
  const std::vector<double> wide = {1, 2, 3, -9, -9, 4, 5, 6, -9, -9, 7, 8, 9, -9, -9, 10, 11, 12, -9, -9};
  PooledCells pooled({2, 2, 3, 2, 2, false}, nullptr, MemoryBudget());
  std::string encoded;
  pooled.encode({0, 4, 3, DType::f64, wide.data(), 5}, encoded);
  pooled.append(encoded);
  pooled.finish();
  EXPECT_EQ(pooled.high(0, 0)[0], 5);
  EXPECT_EQ(pooled.high(0, 0)[1], 6);
  EXPECT_EQ(pooled.low(1, 0)[0], 7);
  EXPECT_EQ(pooled.high(1, 0)[1], 12);
}

TEST(PooledCells, MemoryStaysWithinTheBudget) {
  const auto failure = test::failure_of([] { PooledCells({1, 1000, 1000, 1, 1, false}, nullptr, MemoryBudget(1'000'000)); });
  EXPECT_EQ(failure.kind, ErrorKind::memory);
}

}  // namespace
}  // namespace attn
