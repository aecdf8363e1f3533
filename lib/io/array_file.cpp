#include "attn/io/array_file.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/format_names.hpp"

namespace attn {
inline namespace v1 {
namespace {

using Head = std::span<const std::byte>;

std::string joined_names() {
  std::string text;
  for (const std::string& name : input_format_names()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const ArrayFormat& format_named(const std::string& name) {
  const ArrayFormat* format = find_format(name);
  if (format != nullptr && format->open != nullptr) return *format;
  fail_with_hint(ErrorKind::usage, did_you_mean(name, input_format_names()), "unknown input format '", printable(name, 40),
                 "', expected one of ", joined_names());
}

/// Bytes that no text has; tabs, line ends and form feeds are text.
bool is_control(std::byte byte) {
  const unsigned value = std::to_integer<unsigned>(byte);
  return (value < 0x20 && value != '\t' && value != '\n' && value != '\r' && value != '\f') || value == 0x7f;
}

bool is_blank(std::byte byte) { return byte == std::byte{' '} || (std::byte{'\t'} <= byte && byte <= std::byte{'\r'}); }

/// The format of a file whose first bytes and name tell nothing: JSON if it begins like a document, else numbers as text.
const ArrayFormat* format_of_text(Head head) {
  const unsigned char mark[] = {0xef, 0xbb, 0xbf};
  const auto same = [](std::byte byte, unsigned char code) { return std::to_integer<unsigned char>(byte) == code; };
  if (head.size() >= 3 && std::equal(head.begin(), head.begin() + 3, std::begin(mark), same)) head = head.subspan(3);
  const auto first = std::find_if_not(head.begin(), head.end(), is_blank);
  if (first == head.end()) return find_format("csv");
  if (*first == std::byte{'{'} || *first == std::byte{'['}) return find_format("json");
  // A byte order mark of UTF-16 goes on to the text reader, which names it.
  const bool is_utf16 =
      head.size() >= 2 && ((same(head[0], 0xff) && same(head[1], 0xfe)) || (same(head[0], 0xfe) && same(head[1], 0xff)));
  if (is_utf16 || std::none_of(head.begin(), head.end(), is_control)) return find_format("csv");
  return nullptr;
}

const ArrayFormat& detect_format(FileReader& file) {
  const Head head = file.head(kHeadBytes);
  for (const ArrayFormat& format : array_formats())
    if (format.recognises != nullptr && format.recognises(head, file.known_size())) return format;
  const ArrayFormat* format = format_of_extension(file.path());
  // ".txt" says text, not of what kind.
  const bool says_kind = format != nullptr && format->open != nullptr && format->name != "txt";
  if (says_kind) return *format;
  if (head.empty()) fail(ErrorKind::malformed, file.name(), ": empty file");
  if (const ArrayFormat* text = format_of_text(head)) return *text;
  fail_with_hint(ErrorKind::malformed, "--input-format says what it is", file.name(),
                 ": neither its first bytes nor its name tell a format that can be read (", joined_names(), ")");
}

bool exists(const std::string& path) {
  struct stat status {};
  return path == "-" || ::stat(path.c_str(), &status) == 0;
}

}  // namespace

const Member* ArrayFile::find(std::string_view member) const {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.name == member; });
  return found == members_.end() ? nullptr : &*found;
}

std::unique_ptr<ArrayFile> open_array_file(const std::string& path, const ReadOptions& options, const RunContext& run) {
  const ArrayFormat* given = options.format.empty() ? nullptr : &format_named(options.format);
  std::unique_ptr<FileReader> file = FileReader::open(path, run.budget);
  refuse_lfs_pointer(*file);
  const ArrayFormat& format = given != nullptr ? *given : detect_format(*file);
  return format.open(std::move(file), options, run);
}

FileReference parse_file_reference(const std::string& text) {
  if (exists(text)) return {text, ""};
  for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0; colon = text.rfind(':', colon - 1))
    if (exists(text.substr(0, colon))) return {text.substr(0, colon), text.substr(colon + 1)};
  return {text, ""};
}

}  // namespace v1
}  // namespace attn
