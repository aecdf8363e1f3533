// Any bytes as a JSON document. What is accepted is JSON to another parser, nested no deeper than the limit, and its
// arrays read the same when they are written again.
#include <nlohmann/json.hpp>

#include "fuzz/support/check.hpp"
#include "fuzz/support/reading.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

constexpr int kDeepest = 64;

/// The text with the numbers that only Python writes replaced by 0, and how deep it is nested.
struct PlainJson {
  std::string text;
  int deepest = 0;
};

PlainJson plain_json(std::string_view bytes) {
  PlainJson plain;
  bool quoted = false;
  int depth = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (!quoted) {
      const std::string_view rest = bytes.substr(at);
      std::size_t length = 0;
      for (const std::string_view word : {"NaN", "-Infinity", "Infinity"})
        if (rest.starts_with(word)) length = word.size();
      if (length > 0) {
        plain.text += '0';
        at += length - 1;
        continue;
      }
      depth += c == '[' || c == '{' ? 1 : (c == ']' || c == '}' ? -1 : 0);
      plain.deepest = std::max(plain.deepest, depth);
      quoted = c == '"';
    } else if (c == '\\') {
      plain.text += c;
      if (++at < bytes.size()) plain.text += bytes[at];
      continue;
    } else {
      quoted = c != '"';
    }
    plain.text += c;
  }
  return plain;
}

/// Looks at nothing but syntax; a number beyond double is no fault of syntax.
class Syntax : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool key(string_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    out_of_range = error.id == 406;
    return false;
  }
  bool out_of_range = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<Contents> contents = read_both_ways(bytes, {.format = "json"});
  if (!contents) return 0;
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const PlainJson plain = plain_json(bytes);
  Syntax syntax;
  const bool accepted = nlohmann::json::sax_parse(plain.text, &syntax);
  require(accepted || syntax.out_of_range, "another parser finds that this is not JSON");
  require(plain.deepest <= kDeepest, "nested deeper than the limit");
  for (std::size_t i = 0; i < contents->members.size(); ++i) {
    const Member& member = contents->members[i];
    require(is_utf8(member.name) && is_utf8(member.text), "text that is not UTF-8");
    if (member.kind == MemberKind::array) require_round_trip("json", member, contents->arrays[i]);
  }
  return 0;
}
