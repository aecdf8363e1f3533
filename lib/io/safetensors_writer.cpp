#include <algorithm>
#include <optional>
#include <utility>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/bundle.hpp"
#include "io/npy.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_header.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// One tensor to be written.
struct Tensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::size_t source;  // which array of the bundle
};

/// The order of the format's own library: wide elements first, so that all are aligned, then by name.
bool stands_before(const Tensor& a, const Tensor& b) {
  const std::size_t left = item_size(a.dtype), right = item_size(b.dtype);
  return left != right ? left > right : a.name < b.name;
}

void append_text_list(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, texts[i]);
  }
  out += ']';
}

void append_entry(std::string& out, std::string_view name, std::string_view value) {
  out += out.back() == '{' ? "" : ",";
  append_json_string(out, name);
  out += ':';
  append_json_string(out, value);
}

void append_labels(std::string& out, std::string_view name, const std::vector<std::string>& tokens) {
  if (tokens.empty()) return;
  std::string list;
  append_text_list(list, tokens);
  append_entry(out, name, list);
}

/// `__metadata__` maps texts to texts: lists stand in it as JSON, facts as they are.
std::string metadata_of(const ArrayHeader& lead) {
  std::string out = "{";
  append_entry(out, "schema", "attn-cli/1");
  append_labels(out, "query_tokens", lead.labels.query_tokens);
  append_labels(out, "key_tokens", lead.labels.key_tokens);
  for (const auto& [name, value] : lead.facts) {
    const double* number = std::get_if<double>(&value);
    append_entry(out, name, number != nullptr ? format_number(*number) : std::get<std::string>(value));
  }
  return out + "}";
}

/// The length, the JSON and its padding: all that stands in front of the data.
std::string preamble_of(const std::vector<Tensor>& tensors, const ArrayHeader& lead) {
  std::string json = "{\"__metadata__\":" + metadata_of(lead);
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t end = offset + checked_bytes(tensor.shape, tensor.dtype, tensor.name);
    json += ',';
    append_json_string(json, tensor.name);
    json += concat(":{\"dtype\":\"", tensor_type_name(tensor.dtype), "\",\"shape\":", shape_text(tensor.shape),
                   ",\"data_offsets\":[", offset, ",", end, "]}");
    offset = end;
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > kMostTensorHeaderBytes)
    fail(ErrorKind::output, "the labels need a safetensors header of ", format_bytes(json.size()), ", the format allows ",
         format_bytes(kMostTensorHeaderBytes));
  std::string preamble;
  for (std::uint64_t i = 0, length = json.size(); i < 8; ++i, length >>= 8) preamble += static_cast<char>(length & 0xff);
  return preamble + json;
}

class SafetensorsBundle : public BundleWriter {
 public:
  SafetensorsBundle(const std::vector<ArrayHeader>& headers, ByteSink& bytes) : headers_(headers), bytes_(bytes) {
    const ArrayHeader& lead = lead_header(headers_);
    for (std::size_t i = 0; i < headers_.size(); ++i)
      tensors_.push_back({headers_[i].name, headers_[i].dtype, headers_[i].shape, i});
    if (has_allowed(lead)) {
      allowed_.emplace(*lead.visibility, lead.shape);
      tensors_.push_back({"allowed", DType::boolean, allowed_->shape(), headers_.size()});
    }
    std::sort(tensors_.begin(), tensors_.end(), stands_before);
    bytes_.write(preamble_of(tensors_, lead));
    spools_.resize(headers_.size());
    sinks_.resize(headers_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::size_t source = tensors_[i].source;
      if (source == headers_.size()) continue;
      // What stands first in the file goes there at once.
      if (i > 0) spools_[source] = std::make_unique<Spool>();
      ByteSink& sink = i > 0 ? *spools_[source] : bytes_;
      sinks_[source] = std::make_unique<PlainRowSink>(tensors_[i].dtype, tensors_[i].shape, sink);
    }
  }

  RowSink& sink(std::size_t array) override { return *sinks_.at(array); }

  void finish() override {
    for (const Tensor& tensor : tensors_) {
      if (tensor.source == headers_.size()) {
        allowed_->write(bytes_);
      } else if (spools_[tensor.source]) {
        spools_[tensor.source]->copy_to(bytes_);
        spools_[tensor.source].reset();
      }
    }
  }

 private:
  std::vector<ArrayHeader> headers_;
  ByteSink& bytes_;
  std::vector<Tensor> tensors_;  // in the order of the file
  std::optional<AllowedArray> allowed_;
  std::vector<std::unique_ptr<Spool>> spools_;
  std::vector<std::unique_ptr<PlainRowSink>> sinks_;
};

class SafetensorsRowSink : public PlainRowSink {
 public:
  SafetensorsRowSink(const ArrayHeader& header, ByteSink& bytes) : PlainRowSink(header.dtype, header.shape, bytes) {
    bytes.write(preamble_of({{header.name, header.dtype, header.shape, 0}}, header));
  }
};

}  // namespace

std::unique_ptr<RowSink> make_safetensors_writer(const ArrayHeader& header, const WriteOptions& /*options*/, ByteSink& bytes) {
  return std::make_unique<SafetensorsRowSink>(header, bytes);
}

std::unique_ptr<BundleWriter> make_safetensors_bundle(const std::vector<ArrayHeader>& headers, const WriteOptions& /*options*/,
                                                      ByteSink& bytes) {
  return std::make_unique<SafetensorsBundle>(headers, bytes);
}

}  // namespace v1
}  // namespace attn
