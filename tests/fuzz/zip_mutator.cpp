// Mutates archives so that more than the checksum is tested: after most mutations the checksums of the entries are made
// right again, in the directory and in the local headers. Only in builds with the fuzzer.
#include <cstring>

#include "fuzz/support/zip_entries.hpp"

using attn::fuzz::PlainZip;
using attn::fuzz::PlainZipEntry;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const std::size_t length = LLVMFuzzerMutate(data, size, most);
  if (seed % 4 == 0) return length;
  const std::string bytes(reinterpret_cast<const char*>(data), length);
  const auto entries = PlainZip::entries(bytes);
  if (!entries) return length;
  for (const PlainZipEntry& entry : *entries) {
    const auto content = PlainZip::content(entry);
    if (!content) continue;
    const std::uint32_t crc = PlainZip::checksum(*content);
    std::memcpy(data + entry.crc_at, &crc, sizeof crc);
    std::memcpy(data + entry.header_at + 14, &crc, sizeof crc);
  }
  return length;
}
