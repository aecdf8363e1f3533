#include <gtest/gtest.h>

#include <random>

#include "app/head_rows.hpp"

namespace attn::app {
namespace {

using Cells = std::vector<std::vector<bool>>;  // [row][key]

std::vector<Range> ranges_of(const std::vector<bool>& row) {
  std::vector<Range> ranges;
  for (std::size_t key = 0; key < row.size(); ++key) {
    if (!row[key]) continue;
    const auto at = static_cast<Index>(key);
    if (!ranges.empty() && ranges.back().end == at) {
      ++ranges.back().end;
    } else {
      ranges.push_back({at, at + 1});
    }
  }
  return ranges;
}

Cells random_cells(std::size_t rows, std::size_t keys, unsigned seed) {
  std::mt19937 random(seed);
  Cells cells(rows, std::vector<bool>(keys));
  for (auto& row : cells)
    for (std::size_t key = 0; key < keys; ++key) row[key] = random() % 3 != 0;
  return cells;
}

std::unique_ptr<Visibility> visibility_of(const Cells& cells) {
  std::vector<std::vector<Range>> rows;
  for (const auto& row : cells) rows.push_back(ranges_of(row));
  return std::make_unique<StoredVisibility>(rows);
}

constexpr MatrixStack kStack{2, 3, 4, 9, true, true};  // B, H, n, m

TEST(ChosenVisibility, RowsOfChosenHeadsAreThoseOfTheArray) {
  const Cells cells = random_cells(2 * 3 * 4, 9, 1);
  const auto all = visibility_of(cells);
  const std::vector<Index> heads{2, 0};
  const auto chosen = chosen_visibility(*all, kStack, {heads, false, Reduce::none});
  std::vector<Range> ranges{{7, 8}};  // what it held before is replaced
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index q = 0; q < 4; ++q) {
        chosen->allowed_keys((b * 2 + h) * 4 + q, ranges);
        const auto source = static_cast<std::size_t>((b * 3 + heads[static_cast<std::size_t>(h)]) * 4 + q);
        EXPECT_EQ(ranges, ranges_of(cells[source]));
      }
}

TEST(ChosenVisibility, ReducedCellIsAllowedWhereAnyHeadAllowsIt) {
  const Cells cells = random_cells(2 * 3 * 4, 9, 2);
  const auto all = visibility_of(cells);
  for (const auto& heads : {std::vector<Index>{}, std::vector<Index>{1}, std::vector<Index>{2, 0}}) {
    const auto chosen = chosen_visibility(*all, kStack, {heads, false, Reduce::mean});
    for (Index b = 0; b < 2; ++b)
      for (Index q = 0; q < 4; ++q) {
        std::vector<bool> any(9);
        for (Index h = 0; h < 3; ++h)
          for (std::size_t key = 0; key < 9; ++key)
            if (heads.empty() || std::find(heads.begin(), heads.end(), h) != heads.end())
              any[key] = any[key] || cells[static_cast<std::size_t>((b * 3 + h) * 4 + q)][key];
        std::vector<Range> ranges;
        chosen->allowed_keys(b * 4 + q, ranges);
        EXPECT_EQ(ranges, ranges_of(any));
      }
  }
}

TEST(BothAllow, IsTheIntersection) {
  const Cells a = random_cells(50, 9, 3), b = random_cells(50, 9, 4);
  const auto both = both_allow(visibility_of(a), visibility_of(b));
  for (std::size_t row = 0; row < 50; ++row) {
    std::vector<bool> common(9);
    for (std::size_t key = 0; key < 9; ++key) common[key] = a[row][key] && b[row][key];
    std::vector<Range> ranges;
    both->allowed_keys(static_cast<Index>(row), ranges);
    EXPECT_EQ(ranges, ranges_of(common));
  }
}

TEST(BothAllow, NullIsAll) {
  EXPECT_EQ(both_allow(nullptr, nullptr), nullptr);
  const Cells cells = random_cells(3, 9, 5);
  for (const auto& one : {both_allow(visibility_of(cells), nullptr), both_allow(nullptr, visibility_of(cells))}) {
    std::vector<Range> ranges;
    one->allowed_keys(1, ranges);
    EXPECT_EQ(ranges, ranges_of(cells[1]));
  }
}

TEST(ChosenShape, SingleAndReduceDropTheHeads) {
  const MatrixStack rank3{1, 3, 4, 9, true, false}, rank2{1, 1, 4, 9, false, false};
  EXPECT_EQ(chosen_shape(kStack, {{}, false, Reduce::none}), (Shape{2, 3, 4, 9}));
  EXPECT_EQ(chosen_shape(kStack, {{1, 2}, false, Reduce::none}), (Shape{2, 2, 4, 9}));
  EXPECT_EQ(chosen_shape(kStack, {{}, false, Reduce::max}), (Shape{2, 4, 9}));
  EXPECT_EQ(chosen_shape(rank3, {{1}, true, Reduce::none}), (Shape{4, 9}));
  EXPECT_EQ(chosen_shape(rank3, {{1}, false, Reduce::none}), (Shape{1, 4, 9}));
  EXPECT_EQ(chosen_shape(rank2, {{}, false, Reduce::mean}), (Shape{4, 9}));
}

}  // namespace
}  // namespace attn::app
