#include "attn/base/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "attn/base/error.hpp"

namespace attn {
namespace {

constexpr std::size_t kMiB = 1 << 20;

TEST(MemoryBudget, CountsWhatIsHeldAndGivesItBack) {
  const MemoryBudget budget(1000);
  {
    Buffer a = budget.allocate(600, "a");
    EXPECT_EQ(a.size(), 600u);
    EXPECT_EQ(budget.used(), 600u);
    const MemoryBudget copy = budget;
    Buffer b = copy.allocate(400, "b");
    EXPECT_EQ(budget.used(), 1000u);
    Buffer moved = std::move(a);
    EXPECT_EQ(budget.used(), 1000u);
    EXPECT_EQ(a.data(), nullptr);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, AssignmentReleasesWhatWasHeld) {
  const MemoryBudget budget(1000);
  Buffer a = budget.allocate(300, "a");
  a = budget.allocate(100, "b");
  EXPECT_EQ(budget.used(), 100u);
  a = Buffer();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, RefusalNamesTheThingTheNeedAndTheLimit) {
  const MemoryBudget budget(2 * kMiB);
  const Buffer held = budget.allocate(kMiB, "first");
  try {
    budget.allocate(3 * kMiB, "the scores");
    FAIL() << "the limit was passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(error.message().find("the scores"), std::string::npos);
    EXPECT_NE(error.message().find("3 MiB"), std::string::npos);
    EXPECT_NE(error.message().find("2 MiB"), std::string::npos);
    EXPECT_NE(error.message().find("1 MiB"), std::string::npos);
  }
  EXPECT_EQ(budget.used(), kMiB);
}

TEST(MemoryBudget, RequireAllocatesNothing) {
  const MemoryBudget budget(100);
  budget.require(100, "x");
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_THROW(budget.require(101, "x"), Error);
  EXPECT_THROW(budget.require(SIZE_MAX, "x"), Error);
}

TEST(MemoryBudget, MoreThanTheMachineHasIsAnErrorOfMemory) {
  const MemoryBudget budget;
  try {
    budget.allocate(SIZE_MAX / 4, "x");
    FAIL() << "allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, MemoryIsAlignedAndHasAnAddressEvenWhenEmpty) {
  const MemoryBudget budget;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, 5 * kMiB}) {
    const Buffer buffer = budget.allocate(bytes, "x");
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
  }
}

TEST(MemoryBudget, ResizeKeepsTheContentAcrossAllKindsOfBlocks) {
  const MemoryBudget budget;
  Buffer buffer;
  std::size_t filled = 0;
  for (const std::size_t bytes : {std::size_t{100}, kMiB, 5 * kMiB, 9 * kMiB, 4 * kMiB, kMiB, std::size_t{50}}) {
    budget.resize(buffer, bytes, "x");
    ASSERT_EQ(buffer.size(), bytes);
    EXPECT_EQ(budget.used(), bytes);
    filled = std::min(filled, bytes);
    for (std::size_t i = 0; i < filled; ++i) ASSERT_EQ(buffer.data()[i], static_cast<std::byte>(i % 251)) << i << " of " << bytes;
    for (std::size_t i = filled; i < bytes; ++i) buffer.data()[i] = static_cast<std::byte>(i % 251);
    filled = bytes;
  }
}

TEST(MemoryBudget, ResizePastTheLimitLeavesTheBuffer) {
  const MemoryBudget budget(6 * kMiB);
  Buffer buffer = budget.allocate(5 * kMiB, "x");
  buffer.data()[5 * kMiB - 1] = std::byte{7};
  EXPECT_THROW(budget.resize(buffer, 7 * kMiB, "x"), Error);
  EXPECT_EQ(buffer.size(), 5 * kMiB);
  EXPECT_EQ(buffer.data()[5 * kMiB - 1], std::byte{7});
  EXPECT_EQ(budget.used(), 5 * kMiB);
}

TEST(MemoryBudget, DefaultLimitIsPositiveAndBelowTheAddressSpace) {
  EXPECT_GT(default_memory_limit(), 16 * kMiB);
  EXPECT_LT(default_memory_limit(), SIZE_MAX / 2);
}

}  // namespace
}  // namespace attn
