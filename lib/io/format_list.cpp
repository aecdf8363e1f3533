#include <algorithm>

#include "io/bundle.hpp"
#include "io/csv_reader.hpp"
#include "io/csv_writer.hpp"
#include "io/format_names.hpp"
#include "io/json_reader.hpp"
#include "io/json_writer.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/safetensors.hpp"

namespace attn {
inline namespace v1 {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string folded(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::vector<std::string> names_where(bool (*holds)(const ArrayFormat&)) {
  std::vector<std::string> names;
  for (const ArrayFormat& format : array_formats())
    if (holds(format)) names.emplace_back(format.name);
  return names;
}

}  // namespace

std::span<const ArrayFormat> array_formats() {
  static const std::vector<ArrayFormat> kFormats{
      {"npy", {".npy"}, true, recognises_npy, open_npy, make_npy_writer, nullptr},
      {"npz", {".npz"}, true, recognises_npz, open_npz, make_npz_writer, make_npz_bundle},
      {"safetensors",
       {".safetensors"},
       true,
       recognises_safetensors,
       open_safetensors,
       make_safetensors_writer,
       make_safetensors_bundle},
      {"json", {".json"}, false, nullptr, open_json, make_json_writer, make_json_bundle},
      {"csv", {".csv"}, false, nullptr, open_csv, make_csv_writer, nullptr},
      {"tsv", {".tsv", ".tab"}, false, nullptr, open_tsv, make_tsv_writer, nullptr},
      {"txt", {".txt", ".dat"}, false, nullptr, open_csv, nullptr, nullptr},
  };
  return kFormats;
}

const ArrayFormat* find_format(std::string_view name) {
  for (const ArrayFormat& format : array_formats())
    if (format.name == name) return &format;
  return nullptr;
}

const ArrayFormat* format_of_extension(std::string_view path) {
  const std::string name = folded(path.substr(std::min(path.rfind('/') + 1, path.size())));
  for (const ArrayFormat& format : array_formats())
    for (const std::string_view extension : format.extensions)
      if (name.size() > extension.size() && name.ends_with(extension)) return &format;
  return nullptr;
}

std::vector<std::string> input_format_names() {
  return names_where([](const ArrayFormat& format) { return format.open != nullptr; });
}

std::vector<std::string> output_format_names() {
  return names_where([](const ArrayFormat& format) { return format.writer != nullptr; });
}

std::string data_format_of(std::string_view path_or_name) {
  const ArrayFormat* format = find_format(folded(path_or_name));
  if (format == nullptr) format = format_of_extension(path_or_name);
  return format != nullptr && format->writer != nullptr ? std::string(format->name) : std::string();
}

}  // namespace v1
}  // namespace attn
