// The checksum of archives against that of zlib.
#include "io/crc32.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace attn;

std::vector<unsigned char> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

std::uint32_t expected(std::uint32_t crc, const unsigned char* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(crc32_z(crc, bytes, count));
}

TEST(Crc32, OfNothingIsWhatCameBefore) {
  EXPECT_EQ(crc32_of(0, nullptr, 0), 0u);
  EXPECT_EQ(crc32_of(0x12345678, nullptr, 0), 0x12345678u);
}

TEST(Crc32, OfTheCheckText) {
  constexpr std::string_view kCheck = "123456789";
  EXPECT_EQ(crc32_of(0, kCheck.data(), kCheck.size()), 0xcbf43926u);
}

/// What differs from zlib's checksum, of every way that this processor has.
void expect_right(const unsigned char* bytes, std::size_t count, std::uint32_t before) {
  for (const Crc32Way way : crc32_ways())
    ASSERT_EQ(way(before, reinterpret_cast<const std::byte*>(bytes), count), expected(before, bytes, count));
}

TEST(Crc32, EveryLengthAndAlignment) {
  const std::vector<unsigned char> bytes = random_bytes(1024 + 64);
  for (std::size_t length = 0; length <= 1024; ++length)
    for (std::size_t begin = 0; begin < 64; begin += length % 64 == 0 ? 1 : 7) {
      SCOPED_TRACE(testing::Message() << length << " bytes from " << begin);
      ASSERT_NO_FATAL_FAILURE(expect_right(bytes.data() + begin, length, 0xfedcba98));
    }
}

TEST(Crc32, LongBlocksAtEveryAlignment) {
  const std::vector<unsigned char> bytes = random_bytes(3 << 20);
  std::mt19937 random(8);
  for (std::size_t begin = 0; begin < 64; ++begin) {
    const std::size_t length = random() % (bytes.size() - begin);
    SCOPED_TRACE(testing::Message() << length << " bytes from " << begin);
    ASSERT_NO_FATAL_FAILURE(expect_right(bytes.data() + begin, length, 0));
  }
}

TEST(Crc32, EveryBitCounts) {
  std::vector<unsigned char> bytes(400, 0);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<unsigned char>(1u << bit % 8);
    SCOPED_TRACE(testing::Message() << "bit " << bit);
    ASSERT_NO_FATAL_FAILURE(expect_right(bytes.data(), bytes.size(), 0));
    bytes[bit / 8] = 0;
  }
}

TEST(Crc32, PiecesMakeUpTheWhole) {
  const std::vector<unsigned char> bytes = random_bytes(4096);
  const std::uint32_t whole = expected(0, bytes.data(), bytes.size());
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 13)
    ASSERT_EQ(crc32_of(crc32_of(0, bytes.data(), cut), bytes.data() + cut, bytes.size() - cut), whole) << cut;
}

}  // namespace
