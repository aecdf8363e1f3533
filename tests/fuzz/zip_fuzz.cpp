// Any bytes as a .npz. What is accepted unpacks to exactly the declared sizes with the right checksums, each entry is a
// .npy that reads the same by itself, and what is read reads the same when it is written again.
#include "fuzz/support/check.hpp"
#include "fuzz/support/reading.hpp"
#include "fuzz/support/zip_entries.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

void require_entry(const PlainZipEntry& entry, const Member& member, const Array& array) {
  const std::string name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
  require(name == member.name, "members are named as the entries, in their order");
  if (member.kind != MemberKind::array) return;
  const std::optional<std::string> content = PlainZip::content(entry);
  require(content.has_value(), "an entry unpacks to its declared size");
  require(PlainZip::checksum(*content) == entry.crc, "an entry has the checksum of the directory");
  const std::optional<Contents> alone = read_contents(*content, {.format = "npy"});
  require(alone && same_numbers(alone->only(), array), "an entry reads the same alone");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<Contents> contents = read_both_ways(bytes, {.format = "npz"});
  if (!contents) return 0;
  const auto entries = PlainZip::entries(bytes);
  require(entries.has_value(), "a second walk through the directory finds it broken");
  std::size_t next = 0;
  for (const PlainZipEntry& entry : *entries) {
    if (entry.name.ends_with('/') && entry.size == 0) continue;
    require(next < contents->members.size(), "an entry was left out");
    require_entry(entry, contents->members[next], contents->arrays[next]);
    ++next;
  }
  require(next == contents->members.size(), "more members than entries");
  for (std::size_t i = 0; i < contents->members.size(); ++i)
    if (contents->members[i].kind == MemberKind::array) require_round_trip("npz", contents->members[i], contents->arrays[i]);
  return 0;
}
