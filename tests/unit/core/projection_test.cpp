#include "attn/core/projection.hpp"

#include <limits>

#include "attention_helpers.hpp"
#include "support/random_problem.hpp"

namespace attn::test {
namespace {

Array array_of(Shape shape, std::vector<double> values, DType dtype = DType::f64) {
  return to_array({std::move(shape), std::move(values), dtype});
}

/// Kernels that project(), by name.
std::vector<AttentionOptions> choices() {
  std::vector<AttentionOptions> all;
  for (const Variant& variant : variants()) {
    all.emplace_back();
    all.back().kernel = variant.kernel, all.back().simd = variant.simd;
  }
  return all;
}

std::vector<double> projected(const Array& x, const Projection& projection, const AttentionOptions& options = {}) {
  return to_doubles(project(x, projection, options, {}));
}

TEST(Projection, LayoutsAreTransposesOfEachOther) {
  const Array x = array_of({1, 2}, {1, 2}), weight = array_of({2, 3}, {1, 2, 3, 4, 5, 6}),
              turned = array_of({3, 2}, {1, 4, 2, 5, 3, 6});
  for (const AttentionOptions& options : choices()) {
    Projection projection;
    projection.weight = &weight;
    expect_near(projected(x, projection, options), {9, 12, 15});
    projection.weight = &turned;
    projection.layout = WeightLayout::out_in;
    expect_near(projected(x, projection, options), {9, 12, 15});
  }
}

TEST(Projection, BiasAndLeadingAxes) {
  const Array x = array_of({2, 1, 2}, {1, 0, 0, 1}), weight = array_of({2, 2}, {1, 2, 3, 4}), bias = array_of({2}, {10, 20});
  Projection projection;
  projection.weight = &weight;
  projection.bias = &bias;
  const Array y = project(x, projection, {}, {});
  EXPECT_EQ(y.shape, (Shape{2, 1, 2}));
  expect_near(to_doubles(y), {11, 22, 13, 24});
}

TEST(Projection, WithoutAWeightItIsTheIdentity) {
  const Array x = array_of({2, 2}, {1, 2, 3, 4}), bias = array_of({2}, {10, 20});
  Projection projection;
  expect_near(projected(x, projection), {1, 2, 3, 4});
  projection.bias = &bias;
  expect_near(projected(x, projection), {11, 22, 13, 24});
}

TEST(Projection, SomeOutputsOfAPackedWeight) {
  const Array x = array_of({1, 2}, {1, 1}), packed = array_of({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
              bias = array_of({4}, {1, 2, 3, 4});
  const Array turned = array_of({4, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  for (const AttentionOptions& options : choices()) {
    Projection projection;
    projection.weight = &packed;
    projection.bias = &bias;
    projection.out = {1, 3};
    expect_near(projected(x, projection, options), {10, 13});
    projection.weight = &turned;
    projection.layout = WeightLayout::out_in;
    expect_near(projected(x, projection, options), {10, 13});
  }
}

TEST(Projection, WidthsThatDifferNameBoth) {
  const Array x = array_of({1, 3}, {1, 1, 1}), weight = array_of({2, 4}, std::vector<double>(8, 1)),
              short_bias = array_of({3}, {1, 1, 1});
  Projection projection;
  projection.weight = &weight;
  projection.name = "W_Q";
  std::string text = error_of(ErrorKind::mismatch, [&] { projected(x, projection); });
  expect_has(text, "W_Q takes 2 columns (shape [2,4] read as [in,out]) but its input has 3");
  const Array fits = array_of({1, 2}, {1, 1});
  projection.bias = &short_bias;
  text = error_of(ErrorKind::mismatch, [&] { projected(fits, projection); });
  expect_has(text, "shape [3] but 4 numbers");
  projection.bias = nullptr;
  projection.out = {2, 5};
  text = error_of(ErrorKind::mismatch, [&] { projected(fits, projection); });
  expect_has(text, "4 outputs; 2 to 5");
}

TEST(Projection, PartialSumsMayOverflow) {
  const Array x = array_of({1, 3}, {1e200, 1e200, 1}), weight = array_of({3, 1}, {1e200, -1e200, 7});
  Projection projection;
  projection.weight = &weight;
  for (const AttentionOptions& options : choices()) expect_near(projected(x, projection, options), {7});
}

/// Σ|x·w| times a few units of last place: what plain sums of `in` products may be off by.
TEST(Projection, RandomProductsAgreeAndThreadsChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    const DType dtype = dice.chance(0.5) ? DType::f32 : DType::f64;
    const Index rows = dice.between(1, 40), in = dice.between(1, 40), out = dice.between(1, 40);
    const auto numbers = [&](Shape shape) {
      std::vector<double> values;
      for (Index i = 0; i < shape[0] * (shape.size() > 1 ? shape[1] : 1); ++i)
        values.push_back(dtype == DType::f32 ? static_cast<double>(static_cast<float>(dice.normal())) : dice.normal());
      return Numbers{shape, values, dtype};
    };
    const bool in_out = dice.chance(0.5);
    const Numbers x = numbers({rows, in}), w = numbers(in_out ? Shape{in, out} : Shape{out, in}), b = numbers({out});
    const Array x_array = to_array(x), w_array = to_array(w), b_array = to_array(b);
    Projection projection;
    projection.weight = &w_array;
    projection.bias = &b_array;
    projection.layout = in_out ? WeightLayout::in_out : WeightLayout::out_in;
    for (const AttentionOptions& options : choices()) {
      RunContext run;
      const std::vector<double> y = to_doubles(project(x_array, projection, options, run));
      for (Index r = 0; r < rows; ++r)
        for (Index o = 0; o < out; ++o) {
          Wide sum = b.values[static_cast<std::size_t>(o)], magnitude = std::abs(sum);
          for (Index i = 0; i < in; ++i) {
            const Wide product = Wide(x.values[static_cast<std::size_t>(r * in + i)]) *
                                 Wide(w.values[static_cast<std::size_t>(in_out ? i * out + o : o * in + i)]);
            sum += product, magnitude += std::abs(product);
          }
          const Wide unit = dtype == DType::f32 ? 0x1p-24L : 0x1p-53L;
          ASSERT_LE(std::abs(y[static_cast<std::size_t>(r * out + o)] - sum), unit * static_cast<Wide>(in + 2) * magnitude)
              << options.kernel << " " << options.simd << " seed " << seed;
        }
      for (const int threads : {2, 3}) {
        run.threads = threads;
        ASSERT_EQ(to_doubles(project(x_array, projection, options, run)), y) << options.kernel << " seed " << seed;
      }
    }
  }
}

TEST(Projection, EmptyAxes) {
  const Array none = array_of({0, 2}, {}), weight = array_of({2, 3}, std::vector<double>(6, 1));
  Projection projection;
  projection.weight = &weight;
  EXPECT_EQ(project(none, projection, {}, {}).shape, (Shape{0, 3}));
}

}  // namespace
}  // namespace attn::test
