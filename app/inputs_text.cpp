#include <nlohmann/json.hpp>

#include "app/inputs.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/file_reader.hpp"

namespace attn::app {

namespace {

using Json = nlohmann::ordered_json;

/// Nothing if it is no JSON. Deep nesting is refused first: the parser's own tree would be as deep.
std::optional<Json> parse_json(std::string_view text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  // A zero byte would be taken for the end.
  if (deepest > 64 || text.find('\0') != std::string_view::npos) return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

std::optional<std::string> flat_value(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (!value.is_array()) return std::nullopt;
  std::string list;
  for (const Json& item : value) {
    if (!item.is_number()) return std::nullopt;
    if (!list.empty()) list += ',';
    list += item.dump();
  }
  return list;
}

std::vector<std::string> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return words;
}

/// One token a line; a line may be a blank or empty token, only the end of the last line is no token.
std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string> archive_tokens(const FileReference& place, InputFiles& files) {
  const ArrayFile& file = files.open(place.path);
  const Member* member = file.find(place.member.empty() ? "tokens" : place.member);
  if (member && member->kind == MemberKind::strings) return member->strings;
  if (member && member->kind == MemberKind::text)
    if (auto list = parse_string_list(member->text)) return *list;
  fail(ErrorKind::malformed, shown_name(file), ": has no list of tokens", member ? "" : " of that name", " '",
       printable(place.member.empty() ? "tokens" : place.member), "'");
}

std::vector<std::string> tokens_of_text(std::string_view content, const std::string& name, bool json) {
  if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3);
  // A list of lines may begin with a bracket too ("[CLS]"), so only what is a JSON list of strings is taken for one.
  if (auto list = parse_string_list(content)) return *list;
  if (json) fail(ErrorKind::malformed, name, ": expected a JSON array of strings");
  if (content.find('\0') != std::string_view::npos)
    fail(ErrorKind::malformed, name, ": is no text; expected one token a line, or a JSON array of strings");
  return split_lines(content);
}

}  // namespace

std::optional<std::vector<std::string>> parse_string_list(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_array()) return std::nullopt;
  std::vector<std::string> list;
  for (const Json& item : *json) {
    if (!item.is_string()) return std::nullopt;
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_flat_object(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> fields;
  for (const auto& [name, value] : json->items()) {
    const auto flat = flat_value(value);
    if (!flat) return std::nullopt;
    fields.emplace_back(name, *flat);
  }
  return fields;
}

std::vector<std::string> token_list(std::string_view option, const std::string& value, InputFiles& files) {
  std::vector<std::string> tokens;
  if (!value.starts_with('@')) {
    tokens = split_at(value, " \t\n\r\f\v");
  } else {
    const FileReference place = parse_file_reference(value.substr(1));
    if (!place.member.empty() || place.path.ends_with(".npz") || place.path.ends_with(".safetensors"))
      return archive_tokens(place, files);
    files.claim(place.path);
    const auto file = FileReader::open(place.path, files.run().budget);
    const auto content = file->whole();
    tokens = tokens_of_text({reinterpret_cast<const char*>(content.data()), content.size()}, file->name(),
                            place.path.ends_with(".json"));
  }
  if (tokens.empty())
    fail(value.starts_with('@') ? ErrorKind::malformed : ErrorKind::usage, option, ": found no token in '", printable(value, 80),
         "'");
  return tokens;
}

}  // namespace attn::app
