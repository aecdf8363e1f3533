#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/base/text.hpp"

namespace attn::fuzz {

/// A second reader of safetensors headers, written apart from the library's: the rules of the format on a parsed document.
class PlainSafetensors {
 public:
  explicit PlainSafetensors(std::string_view bytes) : valid_(read(bytes)) {}

  bool valid() const { return valid_; }
  /// Names that the library reads as more than text, and booleans, whose bytes it looks at: both may be refused later.
  bool may_be_refused_later() const { return later_; }
  std::size_t tensors() const { return tensors_; }

 private:
  using Json = nlohmann::json;

  bool read(std::string_view bytes) {
    if (bytes.size() < 8) return false;
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
    if (length > bytes.size() - 8) return false;
    const std::string_view header = bytes.substr(8, static_cast<std::size_t>(length));
    const std::uint64_t data = bytes.size() - 8 - length;
    if (header.empty() || header[0] != '{' || header.find('\0') != std::string_view::npos || !is_utf8(header)) return false;
    const Json document = parse(header);
    if (!document.is_object() || twice_ || deepest_ > 64) return false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const auto& [name, value] : document.items()) {
      if (!value.is_object()) return false;
      if (name == "__metadata__" ? !check_metadata(value) : !check_tensor(value, ranges)) return false;
    }
    std::sort(ranges.begin(), ranges.end());
    std::uint64_t next = 0;
    for (const auto& [begin, end] : ranges) {
      if (begin != next) return false;
      next = end;
    }
    tensors_ = ranges.size();
    return next == data;
  }

  /// Parses, noticing names that are given twice, which a document has room for only once.
  Json parse(std::string_view header) {
    std::vector<std::set<std::string>> names;
    const auto notice = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
        deepest_ = std::max(deepest_, depth + 1);
        names.resize(static_cast<std::size_t>(depth) + 1);
        names.back().clear();
      } else if (event == Json::parse_event_t::key && depth <= 2) {
        const bool fresh = names[static_cast<std::size_t>(depth) - 1].insert(parsed.get<std::string>()).second;
        twice_ = twice_ || !fresh;
      }
      return true;
    };
    return Json::parse(header.begin(), header.end(), notice, false);
  }

  bool check_metadata(const Json& metadata) {
    for (const auto& [name, value] : metadata.items()) {
      if (!value.is_string()) return false;
      for (const std::string_view known :
           {"tokens", "query_tokens", "key_tokens", "context_tokens", "mask_kind", "options", "meta"})
        later_ = later_ || name == known;
    }
    return true;
  }

  static bool is_index(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
  }

  bool check_tensor(const Json& tensor, std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
    if (!tensor.contains("dtype") || !tensor.contains("shape") || !tensor.contains("data_offsets")) return false;
    const Json &dtype = tensor["dtype"], &shape = tensor["shape"], &offsets = tensor["data_offsets"];
    if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2) return false;
    if (!std::all_of(shape.begin(), shape.end(), is_index) || !std::all_of(offsets.begin(), offsets.end(), is_index))
      return false;
    const int bits = bits_of(dtype.get<std::string>());
    if (bits == 0) return false;
    __extension__ __int128 product = bits;
    bool zero = false;
    for (const Json& axis : shape) {
      const auto length = axis.get<std::uint64_t>();
      if (length == 0) zero = true;
      if (length > 0) product *= length;
      if (product > INT64_MAX) return false;
    }
    if (zero) product = 0;
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    if (product % 8 != 0 || end < begin || end - begin != static_cast<std::uint64_t>(product / 8)) return false;
    later_ = later_ || dtype == "BOOL";
    ranges.emplace_back(begin, end);
    return true;
  }

  static int bits_of(const std::string& dtype) {
    static const std::vector<std::pair<std::string, int>> kBits{
        {"F64", 64},    {"F32", 32},    {"F16", 16},        {"BF16", 16},      {"I64", 64}, {"I32", 32},
        {"I16", 16},    {"I8", 8},      {"U64", 64},        {"U32", 32},       {"U16", 16}, {"U8", 8},
        {"BOOL", 8},    {"F8_E4M3", 8}, {"F8_E5M2", 8},     {"F8_E8M0", 8},    {"C64", 64}, {"F4", 4},
        {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
    for (const auto& [name, bits] : kBits)
      if (name == dtype) return bits;
    return 0;
  }

  bool twice_ = false;
  int deepest_ = 0;
  bool later_ = false;
  std::size_t tensors_ = 0;
  bool valid_;
};

}  // namespace attn::fuzz
