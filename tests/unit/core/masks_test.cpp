#include <limits>

#include "attention_helpers.hpp"
#include "core/masks/alibi.hpp"
#include "core/masks/mask.hpp"
#include "core/masks/mask_list.hpp"
#include "support/random_problem.hpp"

namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A set of masks with everything it refers to.
struct Masks {
  explicit Masks(const Problem& problem)
      : prepared(problem),
        sizes{problem.batch, problem.heads,     problem.kv_heads,  problem.queries,
              problem.keys,  problem.head_size, problem.value_size},
        set(prepared.inputs.masks, sizes, problem.options.allow_nonfinite, notes) {}

  std::vector<int> row(Index batch, Index head, Index query) const {
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(sizes.keys), 7);
    set.allowed(batch, head, query, {0, sizes.keys}, cells.data());
    return {cells.begin(), cells.end()};
  }
  std::vector<double> bias(Index head, Index query) const {
    std::vector<double> cells(static_cast<std::size_t>(sizes.keys));
    set.bias(0, head, query, {0, sizes.keys}, cells.data());
    return cells;
  }

  PreparedProblem prepared;
  AttentionSizes sizes;
  std::vector<std::string> notes;
  MaskSet set;
};

/// What the set says of every block and range of a small problem agrees with what it says of every cell.
void expect_consistent(const Problem& problem) {
  const Masks masks(problem);
  const OracleMasks oracle(problem);
  const Index n = problem.queries, m = problem.keys;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index h = 0; h < problem.heads; ++h)
      for (Index i0 = 0; i0 < n; i0 += 3)
        for (const Index count : {Index{1}, Index{4}, n}) {
          const QueryBlock block{b, h, {i0, std::min(i0 + count, n)}};
          const Range seen = masks.set.visible_keys(block);
          ASSERT_TRUE(seen.begin >= 0 && seen.end <= m && seen.begin <= seen.end);
          Index first = m, last = -1;
          for (Index i = block.queries.begin; i < block.queries.end; ++i) {
            const std::vector<int> row = masks.row(b, h, i);
            for (Index j = 0; j < m; ++j) {
              ASSERT_EQ(row[static_cast<std::size_t>(j)], oracle.allowed({b, h, i, j})) << "query " << i << " key " << j;
              if (row[static_cast<std::size_t>(j)]) first = std::min(first, j), last = std::max(last, j);
            }
            ASSERT_EQ(masks.set.row_is_empty(b, h, i), oracle.row_empty(b, h, i)) << "query " << i;
          }
          if (last >= 0) {
            ASSERT_TRUE(seen.begin <= first && seen.end > last);
          }
          for (Index j0 = 0; j0 < m; j0 += 5)
            for (const Index width : {Index{1}, Index{7}, m}) {
              const Range keys{j0, std::min(j0 + width, m)};
              bool any = false, all = true;
              for (Index i = block.queries.begin; i < block.queries.end; ++i)
                for (Index j = keys.begin; j < keys.end; ++j) {
                  const bool allowed = oracle.allowed({b, h, i, j});
                  any = any || allowed, all = all && allowed;
                }
              const Coverage coverage = masks.set.coverage(block, keys);
              if (coverage == Coverage::none) {
                ASSERT_FALSE(any);
              }
              if (coverage == Coverage::all) {
                ASSERT_TRUE(all);
              }
            }
        }
}

TEST(MaskSets, AgreeWithEveryCell) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProblem random(seed);
    if (random.problem().keys <= 40 && random.problem().queries <= 20) expect_consistent(random.problem());
    if (HasFatalFailure()) return;
  }
}

TEST(MaskSets, BiasAgreesInBothPrecisions) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const RandomProblem random(seed);
    const Problem& problem = random.problem();
    const Masks masks(problem);
    const OracleMasks oracle(problem);
    std::vector<float> single(static_cast<std::size_t>(problem.keys));
    for (Index h = 0; h < problem.heads; ++h) {
      const std::vector<double> bias = masks.bias(h, 0);
      masks.set.bias(0, h, 0, {0, problem.keys}, single.data());
      for (Index j = 0; j < problem.keys; ++j) {
        if (!oracle.allowed({0, h, 0, j})) continue;
        Wide magnitude = 0;
        const double exact = static_cast<double>(oracle.bias({0, h, 0, j}, magnitude));
        EXPECT_NEAR(bias[static_cast<std::size_t>(j)], exact, 1e-12 * static_cast<double>(magnitude)) << seed;
        EXPECT_NEAR(single[static_cast<std::size_t>(j)], exact, 1e-6 * static_cast<double>(magnitude)) << seed;
      }
    }
  }
}

TEST(MaskSets, SkipWhatTheyCan) {
  Problem problem = equal_scores(256, 256);
  problem.masks.causal = true;
  const Masks causal(problem);
  EXPECT_EQ(causal.set.visible_keys({0, 0, {64, 96}}), (Range{0, 96}));
  EXPECT_EQ(causal.set.coverage({0, 0, {64, 96}}, {0, 65}), Coverage::all);
  EXPECT_EQ(causal.set.coverage({0, 0, {64, 96}}, {64, 96}), Coverage::some);
  EXPECT_EQ(causal.set.coverage({0, 0, {64, 96}}, {96, 128}), Coverage::none);
  problem.masks.window_left = 10, problem.masks.window_right = -1;
  const Masks window(problem);
  EXPECT_EQ(window.set.visible_keys({0, 0, {64, 96}}), (Range{54, 96}));
  EXPECT_EQ(window.set.coverage({0, 0, {64, 65}}, {54, 65}), Coverage::all);

  // A mask of blocks of 64 x 64, every other one.
  Problem blocks = equal_scores(256, 256);
  std::vector<double> cells(256 * 256);
  for (std::size_t i = 0; i < 256; ++i)
    for (std::size_t j = 0; j < 256; ++j) cells[i * 256 + j] = (i / 64 + j / 64) % 2 == 0;
  blocks.arrays = {mask_of(MaskKind::keep, {256, 256}, cells, DType::boolean)};
  const Masks tiles(blocks);
  EXPECT_EQ(tiles.set.visible_keys({0, 0, {64, 128}}), (Range{64, 256}));
  EXPECT_EQ(tiles.set.coverage({0, 0, {0, 64}}, {64, 128}), Coverage::none);
  EXPECT_EQ(tiles.set.coverage({0, 0, {0, 64}}, {128, 192}), Coverage::all);
  EXPECT_EQ(tiles.set.coverage({0, 0, {0, 64}}, {0, 128}), Coverage::some);
}

TEST(Alibi, Slopes) {
  EXPECT_EQ(alibi_slopes(1), (std::vector<double>{1. / 256}));
  EXPECT_EQ(alibi_slopes(2), (std::vector<double>{1. / 16, 1. / 256}));
  EXPECT_EQ(alibi_slopes(8), (std::vector<double>{1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256}));
  // Six heads: those of four, then the first and third of eight.
  EXPECT_EQ(alibi_slopes(6), (std::vector<double>{1. / 4, 1. / 16, 1. / 64, 1. / 256, 1. / 2, 1. / 8}));
}

TEST(Alibi, CountsFromTheOffset) {
  Problem problem = equal_scores(2, 4);
  problem.masks.alibi = true;
  expect_near(Masks(problem).bias(0, 1), {-1. / 256, 0, -1. / 256, -2. / 256}, 0);
  problem.masks.align = Align::bottom_right;
  expect_near(Masks(problem).bias(0, 1), {-3. / 256, -2. / 256, -1. / 256, 0}, 0);
}

TEST(Arrays, BroadcastFromTheRight) {
  Problem problem = equal_scores(2, 3);
  problem.batch = 2, problem.heads = problem.kv_heads = 2;
  problem.query.assign(8, 0), problem.key.assign(12, 0), problem.value.assign(12, 0);
  const auto row = [&](Shape shape, std::vector<double> values, Index b, Index h, Index i) {
    problem.arrays = {mask_of(MaskKind::keep, std::move(shape), std::move(values), DType::u8)};
    return Masks(problem).row(b, h, i);
  };
  using Row = std::vector<int>;
  EXPECT_EQ(row({3}, {1, 0, 1}, 1, 1, 1), (Row{1, 0, 1}));
  EXPECT_EQ(row({2, 1}, {0, 1}, 0, 0, 0), (Row{0, 0, 0}));
  EXPECT_EQ(row({2, 1}, {0, 1}, 0, 0, 1), (Row{1, 1, 1}));
  EXPECT_EQ(row({1, 3}, {1, 0, 0}, 0, 0, 1), (Row{1, 0, 0}));
  EXPECT_EQ(row({2, 1, 1}, {0, 1}, 1, 0, 1), (Row{0, 0, 0}));  // rank 3 is heads
  EXPECT_EQ(row({2, 1, 1}, {0, 1}, 1, 1, 1), (Row{1, 1, 1}));
  EXPECT_EQ(row({2, 1, 1, 3}, {1, 1, 0, 0, 1, 1}, 1, 0, 0), (Row{0, 1, 1}));
  EXPECT_EQ(row({1, 1}, {0}, 1, 0, 0), (Row{0, 0, 0}));
}

TEST(Arrays, EveryElementType) {
  for (const DType dtype : {DType::boolean, DType::u8, DType::i8, DType::i32, DType::i64, DType::f32, DType::f64}) {
    Problem problem = equal_scores(1, 3);
    problem.arrays = {mask_of(MaskKind::block, {3}, {1, 0, 1}, dtype)};
    EXPECT_EQ(Masks(problem).row(0, 0, 0), (std::vector<int>{0, 1, 0})) << dtype_name(dtype);
  }
}

TEST(Arrays, HalfPrecisionMasks) {
  // -inf, 1 and -0 in float16 and bfloat16.
  for (const auto& [dtype, bits] : {std::pair{DType::f16, std::vector<std::uint16_t>{0xfc00, 0x3c00, 0x8000}},
                                    std::pair{DType::bf16, std::vector<std::uint16_t>{0xff80, 0x3f80, 0x8000}}}) {
    Array array = make_array(dtype, {3}, MemoryBudget(), "test");
    std::memcpy(array.bytes.data(), bits.data(), 6);
    const AttentionSizes sizes{1, 1, 1, 1, 3, 1, 1};
    MaskOptions options;
    options.arrays = {{&array, MaskKind::add, "mask"}};
    std::vector<std::string> notes;
    const MaskSet added(options, sizes, false, notes);
    std::uint8_t allowed[3];
    double bias[3];
    added.allowed(0, 0, 0, {0, 3}, allowed);
    added.bias(0, 0, 0, {0, 3}, bias);
    EXPECT_EQ(std::vector<int>(allowed, allowed + 3), (std::vector<int>{0, 1, 1}));
    EXPECT_EQ(bias[1], 1);
    EXPECT_EQ(bias[2], 0);
    std::uint16_t zero = 0;
    std::memcpy(array.bytes.data(), &zero, 2);
    options.arrays[0].kind = MaskKind::keep;
    const MaskSet kept(options, sizes, false, notes);
    kept.allowed(0, 0, 0, {0, 3}, allowed);
    EXPECT_EQ(std::vector<int>(allowed, allowed + 3), (std::vector<int>{0, 1, 0}));
  }
}

TEST(Arrays, ShapesThatDoNotFitListWhatFits) {
  Problem problem = equal_scores(2, 3);
  for (const Shape& shape :
       {Shape{2}, Shape{1}, Shape{3, 2}, Shape{2, 2}, Shape{2, 2, 3}, Shape{2, 1, 2, 3}, Shape{1, 1, 1, 2, 3}, Shape{}}) {
    std::size_t count = 1;
    for (const Index axis : shape) count *= static_cast<std::size_t>(axis);
    problem.arrays = {mask_of(MaskKind::keep, shape, std::vector<double>(count, 1))};
    const std::string text = error_of(problem);
    expect_has(text, "shape " + shape_text(shape) + " does not fit 2 queries and 3 keys");
    expect_has(text, "[3] (keys), [2,3], [1,2,3] (heads first), [1,1,2,3]");
  }
}

TEST(Arrays, KeepAndBlockHoldOnlyZeroAndOne) {
  Problem problem = equal_scores(2, 3);
  problem.arrays = {mask_of(MaskKind::keep, {2, 3}, {1, 1, 1, 0, 0.5, 1})};
  std::string text = error_of(problem);
  expect_has(text, "mask: [1,1] is 0.5");
  expect_has(text, "--mask-kind add");
  problem.arrays = {mask_of(MaskKind::block, {3}, {0, -1, 0}, DType::i64)};
  text = error_of(problem);
  expect_has(text, "[1] is -1");
  problem.arrays = {mask_of(MaskKind::keep, {3}, {0, kNaN, 0})};
  expect_has(error_of(problem), "[1] is NaN");
}

TEST(Arrays, AddedNonFiniteNumbersNeedALeave) {
  Problem problem = equal_scores(1, 3);
  problem.arrays = {mask_of(MaskKind::add, {3}, {0, kNaN, -kInfinity})};
  expect_has(error_of(problem), "mask: [1] is NaN");
  problem.arrays = {mask_of(MaskKind::add, {1, 3}, {0, 0, kInfinity})};
  expect_has(error_of(problem), "mask: [0,2] is Infinity");
  problem.options.allow_nonfinite = true;
  for (const Variant& variant : variants()) expect_near(solve(with_variant(problem, variant)).weights, {kNaN, kNaN, kNaN});
  // Two of them at once, one infinite: the sum is infinite too.
  problem.arrays.push_back(mask_of(MaskKind::add, {3}, {1, 1, 1}));
  expect_near(Masks(problem).bias(0, 0), {1, 1, kInfinity}, 0);
}

TEST(Notes, AddedMasksThatLookLikeSomethingElse) {
  Problem problem = equal_scores(1, 2);
  problem.arrays = {mask_of(MaskKind::add, {2}, {0, 1})};
  expect_has(notes_of(problem), "only 0 and 1");
  problem.arrays = {mask_of(MaskKind::add, {2}, {0, 0})};
  EXPECT_EQ(notes_of(problem), "");
  problem.arrays = {mask_of(MaskKind::add, {2}, {0, -kInfinity})};
  EXPECT_EQ(notes_of(problem), "");
  problem.arrays = {mask_of(MaskKind::add, {2}, {0, -1e4})};
  expect_has(notes_of(problem), "-1e4 or less");
  expect_has(notes_of(problem), "do not block");
  problem.arrays = {mask_of(MaskKind::add, {2}, {0, -9999})};
  EXPECT_EQ(notes_of(problem), "");
}

TEST(Notes, CausalTopLeftIsSaidWhenItWasNotChosen) {
  Problem problem = equal_scores(2, 5);
  problem.masks.causal = true;
  expect_has(notes_of(problem), "top-left");
  problem.masks.align = Align::top_left;
  EXPECT_EQ(notes_of(problem), "");
  problem.masks.align.reset();
  problem.masks.past = 3;
  EXPECT_EQ(notes_of(problem), "");
  problem.masks.past = 0;
  problem.masks.query_offset = 0;
  EXPECT_EQ(notes_of(problem), "");
  Problem square = equal_scores(5, 5);
  square.masks.causal = true;
  EXPECT_EQ(notes_of(square), "");
}

TEST(MaskErrors, ConflictsAndRanges) {
  const auto error = [](const auto& change, ErrorKind kind) {
    Problem problem = equal_scores(2, 3);
    change(problem.masks);
    return error_of(problem, kind);
  };
  expect_has(error([](MaskOptions& o) { o.causal = true, o.align = Align::top_left, o.query_offset = 1; }, ErrorKind::usage),
             "both an alignment and a query offset");
  expect_has(error([](MaskOptions& o) { o.prefix = 2; }, ErrorKind::usage), "only together with causal");
  expect_has(error([](MaskOptions& o) { o.causal = true, o.prefix = -2; }, ErrorKind::usage), "prefix -2 is negative");
  expect_has(error([](MaskOptions& o) { o.window_left = -2; }, ErrorKind::usage), "window -2,-1");
  expect_has(error([](MaskOptions& o) { o.key_lengths = {4}; }, ErrorKind::mismatch),
             "key length 4 does not lie within 0 and the 3");
  expect_has(error([](MaskOptions& o) { o.key_lengths = {1, 2}; }, ErrorKind::mismatch), "2 key lengths are given for 1");
  expect_has(error([](MaskOptions& o) { o.key_documents = {0, 1, 1}; }, ErrorKind::mismatch), "--query-documents");
  expect_has(error([](MaskOptions& o) { o.key_documents = {0, 1}; }, ErrorKind::mismatch), "2 document ids are given for 3 keys");
  expect_has(error([](MaskOptions& o) { o.query_documents = {0, 1}; }, ErrorKind::usage), "--documents");
  expect_has(error(
                 [](MaskOptions& o) {
                   o.key_documents = {0, 1, 1}, o.query_documents = {0};
                 },
                 ErrorKind::mismatch),
             "1 document ids are given for 2 queries");
  expect_has(error([](MaskOptions& o) { o.past = 4; }, ErrorKind::mismatch), "past of 4");
  expect_has(error([](MaskOptions& o) { o.causal = true, o.query_offset = Index{1} << 60; }, ErrorKind::usage), "out of range");
}

TEST(MaskErrors, HugeWindowsAndOffsetsDoNotOverflow) {
  Problem problem = equal_scores(2, 3);
  constexpr Index kMost = std::numeric_limits<Index>::max();
  problem.masks.window_left = kMost, problem.masks.window_right = kMost;
  problem.masks.query_offset = -(Index{1} << 53);
  EXPECT_EQ(Masks(problem).row(0, 0, 1), (std::vector<int>{1, 1, 1}));
  problem.masks.window_right = 5;
  EXPECT_EQ(Masks(problem).row(0, 0, 1), (std::vector<int>{0, 0, 0}));
}

TEST(MaskText, NamesEveryMask) {
  Problem problem = equal_scores(3, 3);
  problem.masks.causal = true, problem.masks.prefix = 2;
  problem.masks.window_left = 2;
  problem.masks.key_lengths = {2};
  problem.masks.key_documents = {0, 0, 1};
  problem.masks.alibi = true;
  problem.arrays = {mask_of(MaskKind::keep, {3}, {1, 1, 1}), mask_of(MaskKind::block, {3, 3}, std::vector<double>(9, 0)),
                    mask_of(MaskKind::add, {1, 3}, {0, 0, 2})};
  EXPECT_EQ(Masks(problem).set.text(),
            "causal, top-left, prefix 2; window 2,-1; key length 2; documents; mask [3] (1 may attend); mask [3,3] (1 blocks); "
            "added mask [1,3]; ALiBi");
}

}  // namespace
}  // namespace attn::test
