#include "app/inputs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

Tristate tristate(const Words& words, std::string_view option) {
  constexpr std::string_view kChoices[] = {"auto", "yes", "no"};
  const std::string text = choice_value(option, words.value(option, "auto"), kChoices);
  return text == "yes" ? Tristate::yes : text == "no" ? Tristate::no : Tristate::automatic;
}

std::optional<char> delimiter(const Words& words) {
  if (!words.has("--delimiter")) return std::nullopt;
  const std::string text = words.value("--delimiter");
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "blank" || text == "space") return ' ';
  const bool usable = text.size() == 1 && std::string_view(",;\t |:").find(text[0]) != std::string_view::npos;
  if (!usable)
    fail_with_hint(ErrorKind::usage, did_you_mean(text, std::vector<std::string>{"tab", "blank"}), "--delimiter: found '",
                   printable(text, 40), "', expected one of , ; | : or the words tab, blank");
  return text[0];
}

std::vector<std::string> array_names(const ArrayFile& file) {
  std::vector<std::string> names;
  for (const Member& member : file.members())
    if (member.kind == MemberKind::array) names.push_back(member.name);
  return names;
}

std::string shown_names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(printable(name, 40));
  return word_list(shown, 6);
}

/// Labels that stand beside the only array of a document: its tokens.
void add_document_tokens(const ArrayFile& file, LoadedArray& loaded) {
  if (!loaded.labels.query_tokens.empty()) return;
  for (const char* name : {"tokens", "query_tokens"}) {
    const Member* tokens = file.find(name);
    if (tokens && tokens->kind == MemberKind::strings) loaded.labels.query_tokens = tokens->strings;
  }
}

const Member& only_array(const ArrayFile& file) {
  const Member* only = nullptr;
  for (const Member& member : file.members()) {
    if (member.kind != MemberKind::array) continue;
    if (only) {
      const auto names = array_names(file);
      fail_with_hint(ErrorKind::malformed,
                     concat("name one as FILE:NAME, such as ", printable(file.name(), 60), ":", printable(names[0], 40)),
                     shown_name(file), ": holds ", names.size(), " arrays (", shown_names(names), "), expected one");
    }
    only = &member;
  }
  if (only) return *only;
  if (!file.members().empty() && file.members()[0].kind == MemberKind::other)
    fail(ErrorKind::malformed, file.members()[0].where, ": found ", file.members()[0].found, ", expected a matrix of numbers");
  fail(ErrorKind::malformed, shown_name(file), ": holds no array of numbers");
}

const Member& named_array(const ArrayFile& file, const std::string& name) {
  const Member* member = file.find(name);
  if (!member) {
    const auto names = array_names(file);
    fail_with_hint(ErrorKind::malformed, did_you_mean(name, names), shown_name(file), ": has no array '", printable(name, 60),
                   "'; it has: ", names.empty() ? "none" : shown_names(names));
  }
  if (member->kind != MemberKind::array) fail(ErrorKind::malformed, member->where, ": is no array of numbers");
  return *member;
}

LoadedArray load(const std::string& reference, InputFiles& files, bool embeddings) {
  const FileReference place = parse_file_reference(reference);
  ArrayFile& file = files.open(place.path);
  if (!place.member.empty()) return read_member(file, named_array(file, place.member), files.run().budget);
  if (embeddings && is_token_map(file)) return read_token_map(file, files.run().budget);
  LoadedArray loaded = read_member(file, only_array(file), files.run().budget);
  add_document_tokens(file, loaded);
  return loaded;
}

std::vector<Index> parse_number_list(std::string_view option, std::string_view text) {
  std::vector<Index> list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = parse_integer(text.substr(begin, end - begin));
    if (!number)
      fail(ErrorKind::usage, option, ": found '", printable(text.substr(begin, end - begin), 60),
           "', expected whole numbers with commas between them, or @FILE");
    list.push_back(*number);
    begin = end + 1;
  }
  return list;
}

}  // namespace

ReadOptions read_options(const Words& words) {
  ReadOptions options;
  options.format = words.value("--input-format");
  options.delimiter = delimiter(words);
  options.header = tristate(words, "--header");
  options.label_column = tristate(words, "--label-column");
  return options;
}

void InputFiles::claim(const std::string& path) {
  struct stat status {};
  if ((path == "-" ? fstat(0, &status) : stat(path.c_str(), &status)) != 0) return;  // opening it says what is wrong
  const bool once = path == "-" || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode);
  if (once && !pipes_.insert({status.st_dev, status.st_ino}).second)
    fail(ErrorKind::usage, path == "-" ? "standard input" : printable(path),
         " is named for more than one input; a pipe can be read once");
}

ArrayFile& InputFiles::open(const std::string& path) {
  const auto known = files_.find(path);
  if (known == files_.end()) {
    claim(path);
    return *(files_[path] = open_array_file(path, options_, run_));
  }
  struct stat status {};
  if (path == "-" || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) claim(path);
  return *known->second;
}

std::string shown_name(const ArrayFile& file) { return file.name() == "-" ? "standard input" : printable(file.name()); }

LoadedArray read_member(ArrayFile& file, const Member& member, const MemoryBudget& budget) {
  const auto place = static_cast<std::size_t>(&member - file.members().data());
  LoadedArray loaded;
  loaded.array = file.read(place, budget);
  loaded.labels = member.labels;
  loaded.is_text = member.is_text;
  loaded.origin = member.where;
  loaded.member = member.name;
  return loaded;
}

LoadedArray load_array(const std::string& reference, InputFiles& files) { return load(reference, files, false); }

LoadedArray load_array(const std::string& reference, const ReadOptions& options, Console& console) {
  InputFiles files(options, console.run());
  return load(reference, files, false);
}

LoadedArray load_embeddings(const std::string& reference, InputFiles& files) { return load(reference, files, true); }

bool is_token_map(const ArrayFile& file) {
  if (file.format() != "json" || file.members().empty()) return false;
  return std::all_of(file.members().begin(), file.members().end(), [](const Member& member) {
    return member.kind == MemberKind::array && member.shape.size() == 1 && !member.name.empty();
  });
}

LoadedArray read_token_map(ArrayFile& file, const MemoryBudget& budget) {
  const std::vector<Member>& members = file.members();
  const Index columns = members[0].shape[0];
  LoadedArray loaded;
  loaded.origin = shown_name(file);
  loaded.is_text = true;
  loaded.array = make_array(DType::f64, {static_cast<Index>(members.size()), columns}, budget, loaded.origin);
  for (std::size_t row = 0; row < members.size(); ++row) {
    if (members[row].shape[0] != columns)
      fail(ErrorKind::malformed, members[row].where, ": found ", members[row].shape[0], " numbers, expected ", columns,
           " as in the first token's row");
    if (members[row].dtype == DType::boolean)
      fail(ErrorKind::malformed, members[row].where, ": found true and false, expected numbers");
    const Array values = convert_array(file.read(row, budget), DType::f64, budget, members[row].where);
    if (columns > 0)
      std::memcpy(loaded.array.data<double>() + static_cast<Index>(row) * columns, values.data<double>(), values.bytes.size());
    loaded.labels.query_tokens.push_back(members[row].name);
  }
  return loaded;
}

std::vector<Index> whole_numbers(const Array& array, const std::string& origin) {
  std::vector<Index> list(static_cast<std::size_t>(array.size()));
  if (array.dtype == DType::i64) {  // not through double, which would round large ids
    std::copy_n(array.data<Index>(), list.size(), list.begin());
    return list;
  }
  std::vector<double> values(list.size());
  convert_elements(array.dtype, array.bytes.data(), array.size(), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] != std::floor(values[i]))
      fail(ErrorKind::mismatch, origin, ": found ", format_number(values[i]), " at place ", i, ", expected a whole number");
    // From 2^53 on, two whole numbers may have become one.
    if (std::fabs(values[i]) >= 0x1p53)
      fail_with_hint(ErrorKind::mismatch, "a list that is typed, such as 0,1, and an array of int64 are exact", origin,
                     ": the number at place ", i, " is too large to be exact, expected whole numbers below 9007199254740992");
    list[i] = static_cast<Index>(values[i]);
  }
  return list;
}

std::vector<Index> number_list(std::string_view option, const std::string& value, InputFiles& files) {
  if (!value.starts_with('@')) return parse_number_list(option, value);
  const LoadedArray loaded = load_array(value.substr(1), files);
  return whole_numbers(loaded.array, loaded.origin);
}

std::vector<Index> number_list(std::string_view option, const std::string& value, const ReadOptions& options, Console& console) {
  InputFiles files(options, console.run());
  return number_list(option, value, files);
}

std::vector<std::string> token_list(std::string_view option, const std::string& value, const ReadOptions& options,
                                    Console& console) {
  InputFiles files(options, console.run());
  return token_list(option, value, files);
}

}  // namespace attn::app
