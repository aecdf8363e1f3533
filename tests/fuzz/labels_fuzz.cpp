// Any bytes as tokens. Whatever they hold, what is shown of them is well-formed, printable and no wider than asked; what
// is written of them as JSON or CSV reads back as the same tokens.
#include <nlohmann/json.hpp>

#include "attn/io/array_writer.hpp"
#include "attn/render/picture.hpp"
#include "fuzz/support/check.hpp"
#include "fuzz/support/draws.hpp"
#include "fuzz/support/reading.hpp"
#include "render/label_text.hpp"
#include "render/terminal_text.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

std::size_t code_points(std::string_view utf8) {
  std::size_t count = 0;
  for (const char c : utf8) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

void require_visible(const std::string& text, std::size_t limit) {
  require(is_utf8(text), "a shown label is not UTF-8");
  for (const char c : text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a shown label has a control character");
  // A character of the token may be written out as \U0e0001.
  require(code_points(text) <= 8 * limit + 1, "a shown label is longer than its limit");
  require(!text.empty(), "a label that cannot be seen");
}

void check_text(const std::string& token, int cells, std::size_t limit) {
  const std::string good = to_utf8(token);
  require(is_utf8(good) && to_utf8(good) == good, "to_utf8 gives no UTF-8");
  require(!is_utf8(token) || good == token, "to_utf8 changes what is well-formed");
  const std::string safe = printable(token, std::string::npos);
  require(is_utf8(safe) && printable(safe, std::string::npos) == safe, "printable text is not printable");
  require(printable(token, limit).size() <= limit + 3 && printable_end(token, limit).size() <= limit + 3,
          "printable text is longer than its limit");
  require_visible(visible_label(token, limit), limit);
  const std::string shown = terminal_label(token, cells);
  require(is_printable(shown) && is_utf8(shown), "a label in a terminal is not printable: " + printable(shown));
  require(display_width(shown) <= cells, concat("a label is ", display_width(shown), " cells wide, not ", cells));
  require(display_width(pad_left(shown, cells)) == cells && display_width(pad_right(shown, cells)) == cells,
          "padding does not fill the cells");
  std::string json;
  append_json_string(json, token);
  require(nlohmann::json::parse(json).get<std::string>() == good, "JSON gives another text");
}

class MemorySink : public ByteSink {
 public:
  void write(const void* bytes, std::size_t count) override { content.append(static_cast<const char*>(bytes), count); }
  std::string content;
};

/// The labels of a matrix written in this format, and what its reader finds in place of them.
std::vector<std::string> through(const std::string& format, const std::vector<std::string>& tokens) {
  ArrayHeader header;
  header.name = "weights";
  header.shape = {static_cast<Index>(tokens.size()), 1};
  header.labels.query_tokens = tokens;
  MemorySink bytes;
  const auto sink = make_array_writer(format, header, {}, bytes);
  const std::vector<double> numbers(tokens.size(), 0.5);
  const RowBlock rows{0, header.shape[0], 1, DType::f64, numbers.data(), 1};
  std::string encoded;
  sink->encode(rows, encoded);
  sink->append(rows, encoded);
  sink->finish();
  std::string refusal;
  const auto contents = read_contents(bytes.content, {.format = format}, &refusal);
  require(contents.has_value(), "labels that were written are refused: " + refusal);
  if (format == "csv" || format == "tsv") return contents->members.at(0).labels.query_tokens;
  for (const Member& member : contents->members)
    if (member.name == "query_tokens") return member.strings;
  require(false, "labels that were written are not found");
  return {};
}

void check_files(const std::vector<std::string>& tokens) {
  bool indices = true;
  for (std::size_t i = 0; i < tokens.size(); ++i) indices = indices && tokens[i] == std::to_string(i);
  // Indices stand for themselves: they are no labels.
  for (const char* format : {"csv", "tsv"}) require(indices || through(format, tokens) == tokens, "labels in a table change");
  std::vector<std::string> good;
  for (const std::string& token : tokens) good.push_back(to_utf8(token));
  for (const char* format : {"json", "safetensors"})
    require(through(format, tokens) == good, concat("labels in ", format, " change"));
  // numpy fills texts up with zeros, and so cannot tell them from zeros at the end.
  for (std::string& token : good) token.resize(token.find_last_not_of('\0') + 1);
  require(through("npz", tokens) == good, "labels in npz change");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const int cells = static_cast<int>(draws.between(1, 40));
  const std::size_t limit = static_cast<std::size_t>(draws.between(8, 120));
  std::vector<std::string> tokens;
  while (!draws.empty() && tokens.size() < 12) tokens.push_back(draws.until('\xfe'));
  for (const std::string& token : tokens) check_text(token, cells, limit);
  const std::vector<std::string> pretty = prettify_labels(tokens);
  require(pretty.size() == tokens.size(), "as many labels as tokens");
  for (const std::string& token : pretty) require_visible(visible_label(token, limit), limit);
  if (!tokens.empty()) check_files(tokens);
  return 0;
}
