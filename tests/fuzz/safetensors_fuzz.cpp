// Any bytes as a .safetensors. A second reader of the header, written apart, must agree on what is accepted: there the
// tensors fill the data exactly. What is read reads the same when it is written again.
#include "fuzz/support/check.hpp"
#include "fuzz/support/plain_safetensors.hpp"
#include "fuzz/support/reading.hpp"

using namespace attn;
using namespace attn::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string refusal;
  const std::optional<Contents> contents = read_both_ways(bytes, {.format = "safetensors"}, &refusal);
  const PlainSafetensors plain(bytes);
  require(!contents || plain.valid(), "accepted, but refused by a second reader");
  require(contents || !plain.valid() || plain.may_be_refused_later(), "refused, but accepted by a second reader: " + refusal);
  if (!contents) return 0;
  require(contents->members.size() >= plain.tensors(), "a tensor is missing");
  for (std::size_t i = 0; i < contents->members.size(); ++i)
    if (contents->members[i].kind == MemberKind::array)
      require_round_trip("safetensors", contents->members[i], contents->arrays[i]);
  return 0;
}
