#include "io/safetensors_json.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::string_view kMetadata = "__metadata__";

/// Takes the events of a header: an object of tensors, each an object with two lists, and one object of texts.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(RawHeader& header, const std::string& file) : header_(header), file_(file) {}

  bool null() override { return odd("null"); }
  bool boolean(bool value) override { return odd(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return odd(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return odd(text); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool number_unsigned(number_unsigned_t value) override {
    std::vector<Index>* list = depth_ == 3 && in_list_ ? list_of(field_) : nullptr;
    if (list == nullptr || value > static_cast<number_unsigned_t>(std::numeric_limits<Index>::max()))
      return odd(std::to_string(value));
    list->push_back(static_cast<Index>(value));
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata_)
      header_.metadata.emplace_back(field_, text);
    else if (depth_ == 2 && field_ == "dtype")
      tensor().dtype = text;
    else
      return odd(concat("the text \"", printable(text, 40), "\""));
    return true;
  }

  bool start_object(std::size_t /*count*/) override {
    if (depth_ == 0 || (depth_ == 1 && !in_metadata_)) {
      if (depth_ == 1) header_.tensors.push_back({name_, {}, {}, {}});
    } else if (depth_ != 1) {
      odd("an object");
    }
    return open(false);
  }

  bool start_array(std::size_t /*count*/) override {
    const bool expected = depth_ == 2 && !in_metadata_ && list_of(field_) != nullptr;
    if (!expected) odd("a list");
    return open(true);
  }

  bool end_object() override {
    if (depth_ == 2 && !in_metadata_) complete();
    --depth_;
    return true;
  }

  bool end_array() override {
    --depth_;
    in_list_ = false;
    return true;
  }

  bool key(string_t& name) override {
    if (depth_ == 1) {
      name_ = name;
      in_metadata_ = name == kMetadata;
      fields_.clear();
      if (!names_.insert(name).second) refuse(concat("the name '", printable(name, 60), "' appears twice"));
    } else if (depth_ == 2) {
      field_ = name;
      if (!fields_.insert(name).second) refuse(concat(place(), " appears twice"));
      known_ = in_metadata_ || name == "dtype" || list_of(name) != nullptr;
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& /*error*/) override {
    refuse(concat("not JSON from byte ", position, " on"));
  }

 private:
  RawTensor& tensor() { return header_.tensors.back(); }

  std::vector<Index>* list_of(std::string_view field) {
    if (header_.tensors.empty()) return nullptr;
    return field == "shape" ? &tensor().shape : field == "data_offsets" ? &tensor().offsets : nullptr;
  }

  bool open(bool list) {
    if (depth_ == kDeepest) refuse(concat("nested deeper than ", kDeepest));
    in_list_ = list && depth_ == 2;
    ++depth_;
    return true;
  }

  /// A value where it does not belong; fields that this format does not know are passed over.
  bool odd(std::string_view found) {
    if (depth_ >= 2 && !known_) return true;
    const std::string_view expected = depth_ == 0         ? "an object of tensors"
                                      : depth_ == 1       ? "an object"
                                      : in_metadata_      ? "a text"
                                      : field_ == "dtype" ? "the name of an element type"
                                                          : "a list of whole numbers";
    refuse(concat(place(), " is ", found, ", expected ", expected));
  }

  void complete() {
    for (const std::string_view field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(std::string(field))) refuse(concat("tensor '", printable(name_, 60), "' has no ", field));
    if (tensor().offsets.size() != 2)
      refuse(concat("tensor '", printable(name_, 60), "': data_offsets has ", tensor().offsets.size(), " numbers, expected 2"));
  }

  std::string place() const {
    if (depth_ == 0) return "the header";
    return concat("'", printable(name_, 60), depth_ > 1 ? "/" + printable(field_, 40) : "", "'");
  }

  [[noreturn]] void refuse(std::string_view what) const { fail(ErrorKind::malformed, file_, ": header: ", what); }

  RawHeader& header_;
  const std::string& file_;
  std::size_t depth_ = 0;
  bool in_list_ = false;
  bool in_metadata_ = false;
  bool known_ = true;
  std::string name_, field_;
  std::unordered_set<std::string> names_, fields_;
};

}  // namespace

RawHeader parse_safetensors_json(std::string_view json, const std::string& file) {
  RawHeader header;
  HeaderReader reader(header, file);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return header;
}

}  // namespace v1
}  // namespace attn
