#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "attn/core/projection.hpp"
#include "support/problem.hpp"
#include "support/random_problem.hpp"

// X·W + b by the tile steps against long double sums: every size around the tiles, both layouts, parts of packed weights.
namespace attn::test {
namespace {

struct ProjectionCase {
  Index rows, in, out;
  WeightLayout layout = WeightLayout::in_out;
  bool bias = true;
  Range part = {};  // of the outputs
};

class TiledProjection : public testing::TestWithParam<DType> {
 protected:
  Numbers numbers(Dice& dice, Shape shape) const {
    Numbers numbers{shape, {}, GetParam()};
    Index count = 1;
    for (const Index axis : shape) count *= axis;
    for (Index i = 0; i < count; ++i) {
      const double x = dice.normal();
      numbers.values.push_back(GetParam() == DType::f32 ? static_cast<double>(static_cast<float>(x)) : x);
    }
    return numbers;
  }

  static std::vector<double> solve(const Numbers& x, const Numbers& weight, const Numbers& bias, const ProjectionCase& c,
                                   const std::string& simd, int threads) {
    const Array x_array = to_array(x), weight_array = to_array(weight), bias_array = to_array(bias);
    Projection projection;
    projection.weight = &weight_array;
    projection.layout = c.layout;
    projection.bias = c.bias ? &bias_array : nullptr;
    projection.out = c.part;
    AttentionOptions options;
    options.kernel = "tiled";
    options.simd = simd;
    RunContext run;
    run.threads = threads;
    return to_doubles(project(x_array, projection, options, run));
  }

  /// Largest error of an element as a fraction of what is allowed: depth units of Σ |x·w|.
  void check(const ProjectionCase& c, std::uint64_t seed) {
    Dice dice(seed);
    const bool in_first = c.layout == WeightLayout::in_out;
    const Numbers x = numbers(dice, {c.rows, c.in}), bias = numbers(dice, {c.out});
    const Numbers weight = numbers(dice, in_first ? Shape{c.in, c.out} : Shape{c.out, c.in});
    const Range part = c.part.empty() ? Range{0, c.out} : c.part;
    const Index width = part.end - part.begin;
    const double unit = GetParam() == DType::f32 ? 0x1p-24 : 0x1p-53;
    for (const std::string& simd : simd_names()) {
      if (!simd_runs(simd)) continue;
      const std::vector<double> y = solve(x, weight, bias, c, simd, 1);
      ASSERT_EQ(y.size(), static_cast<std::size_t>(c.rows * width));
      for (Index r = 0; r < c.rows; ++r)
        for (Index o = part.begin; o < part.end; ++o) {
          long double sum = c.bias ? bias.values[static_cast<std::size_t>(o)] : 0.0, size = std::abs(sum);
          for (Index i = 0; i < c.in; ++i) {
            const long double w = weight.values[static_cast<std::size_t>(in_first ? i * c.out + o : o * c.in + i)];
            const long double product = x.values[static_cast<std::size_t>(r * c.in + i)] * w;
            sum += product, size += std::abs(product);
          }
          // Sums of 256 products, then of those sums.
          const long double limit = unit * static_cast<double>(std::min<Index>(c.in, 256) + c.in / 256 + 2) * size;
          ASSERT_NEAR(y[static_cast<std::size_t>(r * width + o - part.begin)], sum, limit)
              << simd << " " << c.rows << "x" << c.in << "x" << c.out << " at " << r << "," << o;
        }
      for (const int threads : {2, 3})
        ASSERT_EQ(std::memcmp(solve(x, weight, bias, c, simd, threads).data(), y.data(), y.size() * sizeof(double)), 0)
            << simd << ", " << threads << " threads";
    }
  }
};

TEST_P(TiledProjection, EverySizeAroundTheTiles) {
  std::uint64_t seed = 0;
  for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) {
    for (Index rows = 1; rows <= 60; rows += rows < 27 ? 1 : 7) check({rows, 5, 9, layout}, ++seed);
    for (Index out = 1; out <= 40; ++out) check({7, 6, out, layout, out % 2 == 0}, ++seed);
    for (const Index in : {1, 2, 3, 8, 255, 256, 257, 700}) check({30, in, 11, layout}, ++seed);
  }
}

/// Many rows take the path that rearranges the weight first; a row's bytes are those of the other path.
TEST_P(TiledProjection, ManyRows) {
  for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) check({211, 300, 70, layout}, 3);
  Dice dice(4);
  const Numbers x = numbers(dice, {150, 270}), bias = numbers(dice, {37});
  for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) {
    const Numbers weight = numbers(dice, layout == WeightLayout::in_out ? Shape{270, 37} : Shape{37, 270});
    const ProjectionCase c{150, 270, 37, layout};
    const std::vector<double> all = solve(x, weight, bias, c, "", 2);
    Numbers few{{20, 270}, {x.values.begin() + 100 * 270, x.values.begin() + 120 * 270}, x.dtype};
    const std::vector<double> some = solve(few, weight, bias, c, "", 2);
    for (Index i = 0; i < 20 * 37; ++i) ASSERT_EQ(some[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(100 * 37 + i)]);
  }
}

TEST_P(TiledProjection, PartsOfPackedWeights) {
  for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in})
    for (const Index rows : {5, 120}) check({rows, 40, 96, layout, true, {31, 64}}, 5);
}

/// Partial sums may overflow though the sum does not.
TEST_P(TiledProjection, OverflowOnTheWay) {
  const double large = GetParam() == DType::f32 ? 3e38 : 1.7e308;
  Numbers x{{1, 3}, {large, large, large}, GetParam()};
  for (double& value : x.values)
    if (GetParam() == DType::f32) value = static_cast<double>(static_cast<float>(value));
  const Numbers weight{{3, 1}, {1, 1, -1}, GetParam()}, bias{{1}, {0}, GetParam()};
  const std::vector<double> y = solve(x, weight, bias, {1, 3, 1}, "", 1);
  EXPECT_EQ(y[0], x.values[0]);
}

INSTANTIATE_TEST_SUITE_P(Precisions, TiledProjection, testing::Values(DType::f32, DType::f64),
                         [](const auto& one) { return std::string(dtype_name(one.param)); });

}  // namespace
}  // namespace attn::test
