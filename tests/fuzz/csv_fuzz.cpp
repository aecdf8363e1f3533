// One byte of options, then any bytes as delimited text. What is accepted is one table whose labels fit it; it reads the
// same when it is written again, numbers bit for bit and labels to the letter.
#include "fuzz/support/check.hpp"
#include "fuzz/support/reading.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

ReadOptions options_of(unsigned byte) {
  constexpr std::string_view kDelimiters = ",;\t |:";
  ReadOptions options;
  options.format = (byte & 1) != 0 ? "tsv" : "csv";
  const unsigned delimiter = byte >> 1 & 7;
  if (delimiter < kDelimiters.size()) options.delimiter = kDelimiters[delimiter];
  options.header = static_cast<Tristate>((byte >> 4 & 3) % 3);
  options.label_column = static_cast<Tristate>((byte >> 6 & 3) % 3);
  return options;
}

/// Lines that are not blank, where no quote can hold a line end.
Index count_lines(std::string_view text) {
  Index lines = 0;
  bool blank = true;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      lines += blank ? 0 : 1;
      blank = true;
    } else {
      blank = blank && (c == ' ' || c == '\t');
    }
  }
  return lines + (blank ? 0 : 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::optional<Contents> contents = read_both_ways(bytes, options_of(data[0]));
  if (!contents) return 0;
  require(contents->members.size() == 1 && contents->members[0].kind == MemberKind::array, "text is one array");
  const Member& member = contents->members[0];
  Index rows = 1;
  for (std::size_t axis = 0; axis < member.shape.size(); ++axis)
    if (axis + 1 < member.shape.size() || member.shape.size() == 1) rows *= member.shape[axis];
  if (bytes.find('"') == std::string_view::npos && !bytes.starts_with("\xef\xbb\xbf")) {
    const Index lines = count_lines(bytes);
    require(lines == rows || lines == rows + 1, "a row for every line, or for all but the heading");
  }
  require_round_trip("csv", member, contents->only());
  require_round_trip("tsv", member, contents->only());
  return 0;
}
