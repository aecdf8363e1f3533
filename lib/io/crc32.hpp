#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attn {
inline namespace v1 {

/// The CRC-32 of zip archives over `count` more bytes, where `crc` is that of the bytes before them (0 for none). By
/// carry-less multiplication where the processor has it.
std::uint32_t crc32_of(std::uint32_t crc, const void* bytes, std::size_t count);

/// One way to compute it; `bytes` is not null.
using Crc32Way = std::uint32_t (*)(std::uint32_t crc, const std::byte* bytes, std::size_t count);
/// All that this processor can do, the fastest first.
std::vector<Crc32Way> crc32_ways();

}  // namespace v1
}  // namespace attn
