#include "agreement/tiled_support.hpp"

// Rows of weights and scores: which heads, in which order, reduced or not, in every stage.
namespace attn::test {
namespace {

constexpr Index kHeads = 4, kQueries = 53, kKeys = 171;

Problem some_problem(DType dtype, double softcap) {
  Problem p = normal_problem(21, kHeads, 2, kQueries, kKeys, 12, 7, dtype);
  p.masks.causal = true;
  p.masks.query_offset = 40;
  p.options.softcap = softcap;
  MaskNumbers bias{{{kQueries, kKeys}, {}, DType::f32}, MaskKind::add};
  Dice dice(3);
  for (Index i = 0; i < kQueries * kKeys; ++i) bias.numbers.values.push_back(static_cast<double>(dice.between(-2, 2)) / 4);
  p.arrays = {bias};
  return p;
}

class TiledRows : public testing::TestWithParam<DType> {};

TEST_P(TiledRows, EveryStageOfTheScores) {
  for (const double softcap : {0.0, 3.0})
    for (const Variant& variant : tiled_variants())
      for (const Stage stage : {Stage::raw, Stage::capped, Stage::masked}) {
        const Problem p = with_variant(some_problem(GetParam(), softcap), variant);
        const Solution solution = solve(p, {.scores = true, .stage = stage, .threads = 2});
        const OracleMasks masks(p);
        const Wide unit = GetParam() == DType::f32 ? 0x1p-24L : 0x1p-53L;
        for (Index h = 0; h < kHeads; ++h)
          for (Index i = 0; i < kQueries; ++i)
            for (Index j = 0; j < kKeys; ++j) {
              Wide raw = 0, size = 0, ignored = 0;
              for (Index c = 0; c < p.head_size; ++c) {
                const Wide product = Wide(p.query[static_cast<std::size_t>((h * kQueries + i) * p.head_size + c)]) *
                                     Wide(p.key[static_cast<std::size_t>((h / 2 * kKeys + j) * p.head_size + c)]);
                raw += product, size += std::abs(product);
              }
              raw *= p.scale(), size *= p.scale();
              const Wide capped = softcap > 0 ? softcap * std::tanh(raw / softcap) : raw;
              const Cell cell{0, h, i, j};
              const Wide masked = masks.allowed(cell) ? capped + masks.bias(cell, ignored) : -kWideInfinity;
              const Wide want = stage == Stage::raw ? raw : (stage == Stage::capped ? capped : masked);
              const double got = solution.scores[static_cast<std::size_t>((h * kQueries + i) * kKeys + j)];
              const Wide limit = unit * ((p.head_size + 8) * size + 8 * softcap + 1);
              ASSERT_TRUE(got == want || std::abs(got - want) <= limit)
                  << variant.name() << " stage " << static_cast<int>(stage) << " at " << h << "," << i << "," << j << ": " << got
                  << ", exact " << static_cast<double>(want);
            }
        ASSERT_TRUE(solution.rows_in_order);
        ASSERT_EQ(Verifier(p, solution).verify().failure, "") << variant.name();
      }
}

TEST_P(TiledRows, ChosenHeadsInTheirOrder) {
  for (const Variant& variant : tiled_variants()) {
    const Problem p = with_variant(some_problem(GetParam(), 0), variant);
    const Solution all = solve(p);
    for (const bool scores : {false, true})
      for (const std::vector<Index>& heads : {std::vector<Index>{1}, {0, 2}, {3, 1}, {2, 2}}) {
        const Solution some = solve(p, {.scores = scores, .heads = heads, .threads = 3});
        ASSERT_TRUE(some.rows_in_order);
        ASSERT_EQ(some.weights.size(), heads.size() * static_cast<std::size_t>(kQueries * kKeys));
        for (std::size_t place = 0; place < heads.size(); ++place)
          for (Index i = 0; i < kQueries * kKeys; ++i) {
            const double want = all.weights[static_cast<std::size_t>(heads[place] * kQueries * kKeys + i)];
            const double got = some.weights[place * static_cast<std::size_t>(kQueries * kKeys) + static_cast<std::size_t>(i)];
            // Scores that are wanted themselves are held in another unit, which moves the last bits.
            if (scores)
              ASSERT_NEAR(got, want, 1e-5 * want + 1e-30) << variant.name() << " place " << place;
            else
              ASSERT_EQ(got, want) << variant.name() << " place " << place;
          }
        ASSERT_TRUE(scores || some.output == all.output);
        ASSERT_EQ(compare_output(p, some), "") << variant.name();
      }
  }
}

TEST_P(TiledRows, HeadsReducedToOne) {
  const double unit = GetParam() == DType::f32 ? 0x1p-23 : 0x1p-52;
  for (const Variant& variant : tiled_variants()) {
    const Problem p = with_variant(some_problem(GetParam(), 0), variant);
    const Solution all = solve(p);
    for (const Reduce reduce : {Reduce::mean, Reduce::max, Reduce::min})
      for (const std::vector<Index>& heads : {std::vector<Index>{}, {2, 0, 3}}) {
        const Solution reduced = solve(p, {.heads = heads, .reduce = reduce, .threads = 3});
        const std::vector<Index> chosen = heads.empty() ? std::vector<Index>{0, 1, 2, 3} : heads;
        ASSERT_EQ(reduced.weights.size(), static_cast<std::size_t>(kQueries * kKeys));
        for (Index i = 0; i < kQueries * kKeys; ++i) {
          double sum = 0, most = 0, least = 1;
          for (const Index head : chosen) {
            const double weight = all.weights[static_cast<std::size_t>(head * kQueries * kKeys + i)];
            sum += weight, most = std::max(most, weight), least = std::min(least, weight);
          }
          const double mean = sum / static_cast<double>(chosen.size());
          const double want = reduce == Reduce::mean ? mean : (reduce == Reduce::max ? most : least);
          ASSERT_NEAR(reduced.weights[static_cast<std::size_t>(i)], want, reduce == Reduce::mean ? 4 * unit * want : 0);
        }
        ASSERT_EQ(reduced.output, all.output) << variant.name();
        ASSERT_EQ(reduced.lse, all.lse) << variant.name();
      }
  }
}

/// Raw and capped scores show blocked cells by IEEE rules, without an error.
TEST_P(TiledRows, BlockedCellsAreShown) {
  for (const Variant& variant : tiled_variants()) {
    Problem p = with_variant(some_problem(GetParam(), 0), variant);
    p.masks.query_offset = 0;
    const Solution clean = solve(p, {.scores = true, .output = false, .lse = false});
    const Index key = kKeys - 1;  // nobody sees it
    p.key[static_cast<std::size_t>(key * p.head_size)] = std::numeric_limits<double>::quiet_NaN();
    const Solution shown = solve(p, {.scores = true, .output = false, .lse = false});
    EXPECT_EQ(shown.weights, clean.weights) << variant.name();
    for (Index i = 0; i < kQueries; ++i) {
      EXPECT_TRUE(std::isnan(shown.scores[static_cast<std::size_t>(i * kKeys + key)])) << variant.name() << ", query " << i;
      EXPECT_NEAR(shown.scores[static_cast<std::size_t>(i * kKeys)], clean.scores[static_cast<std::size_t>(i * kKeys)], 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, TiledRows, testing::Values(DType::f32, DType::f64),
                         [](const auto& one) { return std::string(dtype_name(one.param)); });

}  // namespace
}  // namespace attn::test
