#include "render/html_rows.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace attn {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

HtmlLayer layer_of(Index keys, HtmlPacking packing, bool masked, Index kept = 0) {
  HtmlLayer layer;
  layer.queries = 1;
  layer.keys = keys;
  layer.kept = kept;
  layer.masked = masked;
  layer.row_bytes = html_row_bytes(packing, layer);
  return layer;
}

struct Packed {
  std::vector<unsigned char> bytes;
  HtmlFacts facts;

  std::uint32_t u32(std::size_t at) const {
    return static_cast<std::uint32_t>(bytes[at]) | static_cast<std::uint32_t>(bytes[at + 1]) << 8 |
           static_cast<std::uint32_t>(bytes[at + 2]) << 16 | static_cast<std::uint32_t>(bytes[at + 3]) << 24;
  }
  float f32(std::size_t at) const { return std::bit_cast<float>(u32(at)); }
};

template <typename T>
Packed pack(HtmlPacking packing, const std::vector<T>& row, const std::vector<Range>* allowed = nullptr, Index kept = 0) {
  const HtmlLayer layer = layer_of(static_cast<Index>(row.size()), packing, allowed != nullptr, kept);
  RowBlock rows;
  rows.count = 1;
  rows.columns = rows.stride = static_cast<Index>(row.size());
  rows.dtype = kDTypeOf<T>;
  rows.data = row.data();
  Packed packed;
  HtmlRowPacker(packing, layer).pack(rows, 0, allowed, packed.bytes, packed.facts);
  EXPECT_EQ(packed.bytes.size(), layer.row_bytes);
  EXPECT_EQ(packed.bytes.size() % 12, 0U);
  return packed;
}

TEST(HtmlRows, Float32KeepsEveryBit) {
  const std::vector<float> row{0.1F, -0.0F, 1e-40F, 3.4e38F, kInf};
  const Packed packed = pack(HtmlPacking::float32, row);
  for (std::size_t j = 0; j < row.size(); ++j) EXPECT_EQ(packed.u32(4 * j), std::bit_cast<std::uint32_t>(row[j])) << j;
  EXPECT_EQ(packed.facts.infinite, 1);
  EXPECT_EQ(packed.facts.rounded, 0);
}

TEST(HtmlRows, DoublesAreRoundedToNearestAndCounted) {
  const Packed packed = pack(HtmlPacking::float32, std::vector<double>{0.5, 0.1, 1e300, -1e300, std::nan("")});
  EXPECT_EQ(packed.f32(0), 0.5F);
  EXPECT_EQ(packed.f32(4), 0.1F);
  EXPECT_EQ(packed.f32(8), kInf);
  EXPECT_EQ(packed.f32(12), -kInf);
  EXPECT_TRUE(std::isnan(packed.f32(16)));
  EXPECT_EQ(packed.facts.rounded, 3);
}

TEST(HtmlRows, MaskBitsFollowTheCellsLowestFirst) {
  const std::vector<Range> allowed{{0, 2}, {7, 9}};
  const Packed packed = pack(HtmlPacking::float32, std::vector<float>(10, 0.25F), &allowed);
  EXPECT_EQ(packed.bytes[40], 0b10000011);
  EXPECT_EQ(packed.bytes[41], 0b00000001);
  EXPECT_EQ(packed.facts.blocked, 6);
  EXPECT_EQ(packed.facts.empty, 0);
}

TEST(HtmlRows, FactsSkipWhatNoOneSees) {
  const std::vector<Range> allowed{{1, 5}};
  const Packed packed = pack(HtmlPacking::float32, std::vector<float>{9.0F, 0.5F, kNaN, -kInf, 0.25F, -9.0F}, &allowed);
  EXPECT_EQ(packed.facts.min, 0.25);
  EXPECT_EQ(packed.facts.max, 0.5);
  EXPECT_EQ(packed.facts.least, 0.25);
  EXPECT_EQ(packed.facts.nan, 1);
  EXPECT_EQ(packed.facts.blocked, 3);  // two by the mask, and minus infinity: the score of a blocked cell
}

TEST(HtmlRows, AnEmptyRowIsCounted) {
  const std::vector<Range> allowed;
  const Packed packed = pack(HtmlPacking::float32, std::vector<float>(4, 0.0F), &allowed);
  EXPECT_EQ(packed.facts.empty, 1);
  EXPECT_EQ(packed.facts.blocked, 4);
  EXPECT_GT(packed.facts.min, packed.facts.max);
}

/// What the page computes from a code.
double decoded(const Packed& packed, std::size_t j) {
  const unsigned char code = packed.bytes[8 + j];
  if (code == kHtmlZero) return 0;
  if (code == kHtmlInf) return kInf;
  if (code == kHtmlMinusInf) return -kInf;
  if (code == kHtmlNaN) return std::nan("");
  return static_cast<double>(packed.f32(0)) + code * static_cast<double>(packed.f32(4));
}

TEST(HtmlRows, EightBitsStayWithinHalfAStep) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<float> row(100);
    const float size = std::pow(10.0F, static_cast<float>(trial % 9) - 4.0F), shift = trial % 2 == 0 ? 0.0F : -0.4F * size;
    for (float& value : row) value = uniform(random) * size + shift;
    const Packed packed = pack(HtmlPacking::uint8, row);
    const double range = packed.facts.max - packed.facts.min;
    for (std::size_t j = 0; j < row.size(); ++j) EXPECT_LE(std::abs(decoded(packed, j) - row[j]), range / 255) << trial;
    EXPECT_LE(packed.facts.step, range / 251 * 1.0001);
  }
}

TEST(HtmlRows, EightBitsKeepZerosAndWhatIsNoNumber) {
  const std::vector<Range> allowed{{0, 6}};
  const std::vector<float> row{0.0F, 0.3F, kNaN, kInf, -kInf, 0.7F, 5.0F, 0.0F};
  const Packed packed = pack(HtmlPacking::uint8, row, &allowed);
  EXPECT_EQ(decoded(packed, 0), 0);
  EXPECT_NEAR(decoded(packed, 1), 0.3, 0.4 / 502);
  EXPECT_TRUE(std::isnan(decoded(packed, 2)));
  EXPECT_EQ(decoded(packed, 3), kInf);
  EXPECT_EQ(decoded(packed, 4), -kInf);
  EXPECT_NEAR(decoded(packed, 5), 0.7, 0.7 / 502);
  EXPECT_TRUE(std::isnan(decoded(packed, 6)));  // a blocked number outside the range of the others is not kept
  EXPECT_EQ(decoded(packed, 7), 0);
  EXPECT_EQ(packed.bytes[16], 0b00111111);
}

TEST(HtmlRows, EightBitsOfAConstantRowAreExact) {
  const Packed packed = pack(HtmlPacking::uint8, std::vector<float>(5, 0.2F));
  for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(static_cast<float>(decoded(packed, j)), 0.2F);
}

TEST(HtmlRows, StrongestKeysComeInOrderOfTheKeys) {
  const Packed packed = pack(HtmlPacking::strongest, std::vector<float>{0.1F, 0.4F, 0.05F, 0.4F, 0.05F}, nullptr, 2);
  EXPECT_EQ(packed.u32(0), 0U);
  EXPECT_EQ(packed.u32(4), 5U);
  EXPECT_EQ(packed.u32(8), 1U);
  EXPECT_EQ(packed.u32(12), 3U);
  EXPECT_EQ(packed.f32(16), 0.4F);
  EXPECT_EQ(packed.f32(20), 0.4F);
}

TEST(HtmlRows, OfEqualKeysTheFirstAreKept) {
  const Packed packed = pack(HtmlPacking::strongest, std::vector<float>(6, 0.5F), nullptr, 2);
  EXPECT_EQ(packed.u32(8), 0U);
  EXPECT_EQ(packed.u32(12), 1U);
}

TEST(HtmlRows, StrongestCountsMagnitudeAndSkipsBlockedKeys) {
  const std::vector<Range> allowed{{1, 4}};
  const Packed packed = pack(HtmlPacking::strongest, std::vector<float>{9.0F, 0.1F, -3.0F, 0.2F, 9.0F}, &allowed, 2);
  EXPECT_EQ(packed.u32(0), 1U);
  EXPECT_EQ(packed.u32(4), 4U);
  EXPECT_EQ(packed.u32(8), 2U);
  EXPECT_EQ(packed.u32(12), 3U);
  EXPECT_EQ(packed.f32(16), -3.0F);
}

TEST(HtmlRows, FewerAllowedKeysThanKeptLeaveEmptyPlaces) {
  const std::vector<Range> allowed{{2, 3}};
  const Packed packed = pack(HtmlPacking::strongest, std::vector<float>(5, 0.5F), &allowed, 2);
  EXPECT_EQ(packed.u32(8), 2U);
  EXPECT_EQ(packed.u32(12), 0xffffffffU);
}

}  // namespace
}  // namespace attn
