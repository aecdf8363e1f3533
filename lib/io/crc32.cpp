#include "io/crc32.hpp"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attn {
inline namespace v1 {
namespace {

std::uint32_t crc32_by_table(std::uint32_t crc, const std::byte* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes), count));
}

#if defined(__x86_64__)

// The checksum is the message, as a polynomial over {0, 1}, times x^32 modulo P; the first bit of the message (the lowest
// one of its first byte) has the highest power. Bits of zeros behind a block multiply it by a power of x, so a block A
// that is followed by D bits and a block B may be replaced by (A · x^D mod P) + B: this is done with 16 bytes at a time.

/// P without its x^32, with the highest power in the lowest bit.
constexpr std::uint32_t kPolynomial = 0xedb88320;
constexpr std::size_t kBlock = 16;
constexpr std::size_t kLanes = 4;  // blocks in flight: one multiplication waits for the one before it

/// x^power mod P, as the factor of a multiplication: of 64 bits with the highest power in the lowest one.
constexpr std::uint64_t power_of_x(unsigned power) {
  std::uint32_t remainder = 1u << 31;  // x^0
  for (; power > 0; --power) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? kPolynomial : 0);
  return std::uint64_t{remainder} << 32;
}

/// The factors that move a block past `Bits` bits: its first 8 bytes lie 64 powers higher than its last. The product of
/// bit i and bit j stands in bit i + j of 128, where the power is one higher than theirs together: hence the -1.
template <unsigned Bits>
struct Factors {
  static constexpr auto first = static_cast<long long>(power_of_x(Bits + 64 - 1));
  static constexpr auto last = static_cast<long long>(power_of_x(Bits - 1));
};

template <unsigned Bits>
__attribute__((target("pclmul"))) inline __m128i move_past(__m128i block, __m128i next) {
  const __m128i by = _mm_set_epi64x(Factors<Bits>::last, Factors<Bits>::first);
  const __m128i first = _mm_clmulepi64_si128(block, by, 0x00);
  const __m128i last = _mm_clmulepi64_si128(block, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, last), next);
}

__attribute__((target("pclmul"))) std::uint32_t crc32_by_product(std::uint32_t crc, const std::byte* bytes, std::size_t count) {
  std::size_t blocks = count / kBlock;
  if (blocks < kLanes) return crc32_by_table(crc, bytes, count);
  const std::byte* const tail = bytes + blocks * kBlock;
  const auto* next = reinterpret_cast<const __m128i*>(bytes);
  __m128i lane[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lane[i] = _mm_loadu_si128(next++);
  // What came before takes the place of the first 32 bits.
  lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128(static_cast<int>(~crc)));
  for (blocks -= kLanes; blocks >= kLanes; blocks -= kLanes)
    for (std::size_t i = 0; i < kLanes; ++i) lane[i] = move_past<8 * kBlock * kLanes>(lane[i], _mm_loadu_si128(next++));
  for (std::size_t i = 1; i < kLanes; ++i) lane[0] = move_past<8 * kBlock>(lane[0], lane[i]);
  for (; blocks > 0; --blocks) lane[0] = move_past<8 * kBlock>(lane[0], _mm_loadu_si128(next++));
  std::byte rest[kBlock];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), lane[0]);
  crc = crc32_by_table(~0u, rest, sizeof rest);  // zlib keeps its state inverted: this is a state of zero
  return crc32_by_table(crc, tail, count % kBlock);
}

constexpr std::size_t kPair = 2 * kBlock;

/// The same with two blocks in each register.
__attribute__((target("avx2,pclmul,vpclmulqdq"))) std::uint32_t crc32_by_wide_product(std::uint32_t crc, const std::byte* bytes,
                                                                                      std::size_t count) {
  std::size_t pairs = count / kPair;
  if (pairs < kLanes) return crc32_by_product(crc, bytes, count);
  const std::byte* const tail = bytes + (pairs - pairs % kLanes) * kPair;
  constexpr unsigned kBits = 8 * kPair * kLanes;
  const auto* next = reinterpret_cast<const __m256i*>(bytes);
  const __m256i by = _mm256_set_epi64x(Factors<kBits>::last, Factors<kBits>::first, Factors<kBits>::last, Factors<kBits>::first);
  __m256i lane[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lane[i] = _mm256_loadu_si256(next++);
  lane[0] = _mm256_xor_si256(lane[0], _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(~crc))));
  for (pairs -= kLanes; pairs >= kLanes; pairs -= kLanes)
    for (std::size_t i = 0; i < kLanes; ++i) {
      const __m256i moved =
          _mm256_xor_si256(_mm256_clmulepi64_epi128(lane[i], by, 0x00), _mm256_clmulepi64_epi128(lane[i], by, 0x11));
      lane[i] = _mm256_xor_si256(moved, _mm256_loadu_si256(next++));
    }
  // What is in the lanes is a message of its own, for a state of zero.
  std::byte rest[kPair * kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(rest + i * kPair), lane[i]);
  crc = crc32_by_product(~0u, rest, sizeof rest);
  return crc32_by_product(crc, tail, count % (kPair * kLanes));
}

#endif

}  // namespace

std::vector<Crc32Way> crc32_ways() {
  std::vector<Crc32Way> ways;
#if defined(__x86_64__)
  const bool product = __builtin_cpu_supports("pclmul") != 0;
  const bool wide = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
  if (product && wide) ways.push_back(crc32_by_wide_product);
  if (product) ways.push_back(crc32_by_product);
#endif
  ways.push_back(crc32_by_table);
  return ways;
}

std::uint32_t crc32_of(std::uint32_t crc, const void* bytes, std::size_t count) {
  static const Crc32Way way = crc32_ways().front();
  return count == 0 ? crc : way(crc, static_cast<const std::byte*>(bytes), count);
}

}  // namespace v1
}  // namespace attn
