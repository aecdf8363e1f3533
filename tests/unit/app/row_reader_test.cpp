#include "app/row_reader.hpp"

#include <gtest/gtest.h>

namespace attn::app {
namespace {

TEST(PlaceOf, CountsInCOrder) {
  const Shape shape{2, 3, 4};
  Index at = 0;
  for (Index a = 0; a < 2; ++a)
    for (Index b = 0; b < 3; ++b)
      for (Index c = 0; c < 4; ++c) EXPECT_EQ(place_of(at++, shape), (Shape{a, b, c}));
  EXPECT_EQ(place_of(0, {}), Shape{});
}

TEST(RowCount, LastAxisIsARow) {
  EXPECT_EQ(row_count({2, 3, 4}).rows, 6);
  EXPECT_EQ(row_count({2, 3, 4}).columns, 4);
  EXPECT_EQ(row_count({5}).rows, 1);
  EXPECT_EQ(row_count({}).columns, 1);
  EXPECT_EQ(row_count({0, 3}).rows, 0);
}

TEST(RowsPerBlock, IsAboutAMebibyteAndAtLeastOne) {
  EXPECT_EQ(rows_per_block({1'000'000, 1024}), 128);
  EXPECT_EQ(rows_per_block({10, 1 << 20}), 1);
  EXPECT_EQ(rows_per_block({3, 2}), 3);
  EXPECT_EQ(rows_per_block({0, 5}), 1);
  EXPECT_EQ(rows_per_block({7, 0}), 7);
}

}  // namespace
}  // namespace attn::app
