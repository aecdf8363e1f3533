// Any bytes as a .npy. What is accepted holds exactly the bytes that its header asks for, and reads the same when it is
// written again.
#include "fuzz/support/check.hpp"
#include "fuzz/support/reading.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

/// Where the data begins, by the rules of the format.
std::size_t data_offset(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(i))); };
  if (at(6) == 1) return 10 + at(8) + (at(9) << 8);
  return 12 + at(8) + (at(9) << 8) + (at(10) << 16) + (at(11) << 24);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<Contents> contents = read_both_ways(bytes, {.format = "npy"});
  if (!contents) return 0;
  require(contents->members.size() == 1, "a .npy holds one array");
  const Member& member = contents->members[0];
  if (member.kind != MemberKind::array) return 0;
  require(bytes.substr(0, 6) == "\x93NUMPY", "the magic bytes");
  require(data_offset(bytes) + contents->only().bytes.size() == size, "header and data are the whole file");
  require_round_trip("npy", member, contents->only());
  return 0;
}
