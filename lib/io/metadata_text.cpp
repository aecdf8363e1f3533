#include "io/metadata_text.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::array<std::string_view, 7> kNames{"tokens",    "query_tokens", "key_tokens", "context_tokens",
                                                 "mask_kind", "options",      "meta"};
constexpr std::size_t kDeepest = 64;

/// Takes the events of one small JSON value. Lists of strings and flat objects are kept, deeper things only noticed.
class MetadataReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit MetadataReader(Member& member) : member_(member) {}

  bool null() override { return scalar("null", false); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false", false); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value), false); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value), false); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return scalar(text, false); }
  bool string(string_t& text) override { return scalar(text, true); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*count*/) override { return open(MemberKind::object); }
  bool start_array(std::size_t /*count*/) override { return open(MemberKind::strings); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    const auto same = [&](const auto& field) { return field.first == name; };
    if (std::any_of(member_.fields.begin(), member_.fields.end(), same)) {
      problem_ = concat("has the name '", printable(name, 40), "' twice");
      return false;
    }
    key_ = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& /*error*/) override {
    problem_ = concat("is not JSON from byte ", position, " on");
    return false;
  }

  const std::string& problem() const { return problem_; }
  bool deeper() const { return deeper_; }

 private:
  bool scalar(const std::string& text, bool is_string) {
    if (depth_ == 0) {
      member_.kind = is_string ? MemberKind::text : MemberKind::scalar;
      member_.text = text;
    } else if (depth_ > 1) {
      deeper_ = true;
    } else if (member_.kind == MemberKind::object) {
      member_.fields.emplace_back(key_, text);
    } else if (is_string) {
      member_.strings.push_back(text);
    } else {
      deeper_ = true;
    }
    return true;
  }

  bool open(MemberKind kind) {
    if (depth_ == kDeepest) {
      problem_ = concat("is nested deeper than ", kDeepest);
      return false;
    }
    if (depth_ == 0)
      member_.kind = kind;
    else
      deeper_ = true;
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    return true;
  }

  Member& member_;
  std::string key_;
  std::string problem_;
  std::size_t depth_ = 0;
  bool deeper_ = false;
};

}  // namespace

bool is_metadata_name(std::string_view name) { return std::find(kNames.begin(), kNames.end(), name) != kNames.end(); }

Member metadata_member(std::string name, const std::string& text, std::string where) {
  Member member;
  member.name = std::move(name);
  member.where = std::move(where);
  MetadataReader reader(member);
  // A zero byte would be taken for the end.
  if (text.find('\0') == std::string::npos && nlohmann::json::sax_parse(text, &reader)) {
    if (!reader.deeper()) return member;
    member.found =
        member.kind == MemberKind::object ? "an object with lists or objects inside" : "a list of other things than strings";
    member.kind = MemberKind::other;
    return member;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool meant_as_json = first != std::string::npos && std::string_view("[{\"").find(text[first]) != std::string_view::npos;
  if (meant_as_json)
    fail(ErrorKind::malformed, member.where, ": ", reader.problem().empty() ? "is not JSON: has a zero byte" : reader.problem());
  Member plain;  // without what was taken before the reading stopped
  plain.name = std::move(member.name);
  plain.where = std::move(member.where);
  plain.kind = MemberKind::text;
  plain.text = text;
  return plain;
}

}  // namespace v1
}  // namespace attn
