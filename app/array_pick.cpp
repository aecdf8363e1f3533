#include "app/array_pick.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>

#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The digits at the front without leading zeros, taken off `text`.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::vector<std::string> names_of(const ArrayFile& file, const std::vector<std::size_t>& members) {
  std::vector<std::string> names;
  for (const std::size_t index : members) names.push_back(file.members()[index].name);
  return names;
}

std::optional<std::size_t> find_named(const OpenedInput& input, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const std::vector<std::size_t> arrays = array_members(*input.file);
  for (const std::size_t index : arrays)
    if (input.member(index).name == name) return index;
  const std::vector<std::string> names = names_of(*input.file, arrays);
  const bool nameless = names.empty() || (names.size() == 1 && names.front().empty());
  fail_with_hint(ErrorKind::malformed, did_you_mean(name, names), printable_end(input.path), ": found no array '",
                 printable(name, 60), "', expected ", nameless ? "no name: the file is one array" : word_list(names, 6));
}

std::optional<std::size_t> only_one(const std::vector<std::size_t>& members) {
  return members.size() == 1 ? std::optional(members.front()) : std::nullopt;
}

}  // namespace

bool OpenedInput::reopens() const {
  struct stat status {};
  return path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

OpenedInput open_input(const std::string& reference, const ReadOptions& options, const Console& console) {
  const FileReference parts = parse_file_reference(reference);
  OpenedInput input{reference, parts.path, open_array_file(parts.path, options, console.run()), std::nullopt};
  input.named = find_named(input, parts.member);
  return input;
}

std::vector<std::size_t> array_members(const ArrayFile& file) {
  std::vector<std::size_t> arrays;
  for (std::size_t i = 0; i < file.members().size(); ++i)
    if (file.members()[i].kind == MemberKind::array) arrays.push_back(i);
  std::stable_sort(arrays.begin(), arrays.end(),
                   [&](std::size_t a, std::size_t b) { return natural_less(file.members()[a].name, file.members()[b].name); });
  return arrays;
}

std::size_t pick_array(const OpenedInput& input) {
  if (input.named) return *input.named;
  const std::vector<std::size_t> arrays = array_members(*input.file);
  if (arrays.empty()) fail(ErrorKind::mismatch, printable(input.reference), ": found no array of numbers");
  std::vector<std::size_t> matrices;
  for (const std::size_t index : arrays)
    if (input.member(index).shape.size() >= 2) matrices.push_back(index);
  if (const auto only = only_one(matrices)) return *only;
  for (const std::size_t index : arrays)
    if (input.member(index).name == "weights") return index;
  if (const auto only = only_one(arrays)) return *only;
  const auto names = names_of(*input.file, matrices.empty() ? arrays : matrices);
  fail_with_hint(ErrorKind::usage, concat("name one, such as ", printable(input.path, 80), ":", printable(names.front(), 80)),
                 printable(input.reference), " holds several arrays: ", word_list(names));
}

bool queries_are_columns(const Member& member) {
  const Shape& shape = member.shape;
  if (shape.empty()) return false;
  const auto tokens = static_cast<Index>(member.labels.query_tokens.size());
  const Index queries = shape.size() >= 2 ? shape[shape.size() - 2] : 1;
  return member.name == "lse" || (tokens == shape.back() && tokens != queries && member.labels.key_tokens.empty());
}

AxisLabels labels_of(const ArrayFile& file, const Member& member) {
  AxisLabels labels = member.labels;
  const std::size_t rank = member.shape.size();
  if (queries_are_columns(member)) {
    std::vector<std::string>& tokens = labels.query_tokens;
    for (const char* name : {"query_tokens", "tokens"})
      if (const Member* found = file.find(name); found && tokens.empty() && found->kind == MemberKind::strings)
        tokens = found->strings;
    if (static_cast<Index>(tokens.size()) != member.shape.back()) tokens.clear();
    return {{}, tokens};
  }
  // The rows of other matrices (W_Q, query) may be as many as there are tokens, and yet be something else.
  const bool embedded = rank == 2 && member.name == "embeddings";
  if (rank < 2 || (rank == 2 && !embedded && member.name != "weights" && member.name != "scores")) return labels;
  const Index queries = member.shape[rank - 2], keys = member.shape[rank - 1];
  const auto take = [&](std::string_view name, Index count, std::vector<std::string>& into) {
    const Member* found = file.find(name);
    if (into.empty() && found && found->kind == MemberKind::strings && static_cast<Index>(found->strings.size()) == count)
      into = found->strings;
  };
  take("query_tokens", queries, labels.query_tokens);
  take("tokens", queries, labels.query_tokens);
  if (embedded) return labels;  // its columns are no tokens, even if there are as many
  take("key_tokens", keys, labels.key_tokens);
  if (labels.key_tokens.empty() && queries == keys) labels.key_tokens = labels.query_tokens;
  return labels;
}

bool natural_less(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

}  // namespace attn::app
