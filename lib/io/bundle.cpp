#include "io/bundle.hpp"

#include <algorithm>
#include <string_view>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/format.hpp"
#include "io/json_parts.hpp"

namespace attn {
inline namespace v1 {
namespace {

class JsonBundle : public BundleWriter {
 public:
  JsonBundle(const std::vector<ArrayHeader>& headers, ByteSink& bytes) : headers_(headers), bytes_(bytes) {
    const ArrayHeader& lead = lead_header(headers_);
    std::string head = "{\"schema\":\"attn-cli/1\",";
    append_json_labels_and_facts(head, lead);
    append_json_shapes(head, headers_);
    bytes_.write(head);
    write_json_allowed(lead, bytes_);
    bytes_.write(key(0));
    sinks_.push_back(make_json_value_writer(headers_[0], bytes_));
    for (std::size_t i = 1; i < headers_.size(); ++i) {
      spools_.push_back(std::make_unique<Spool>());
      sinks_.push_back(make_json_value_writer(headers_[i], *spools_.back()));
    }
  }

  RowSink& sink(std::size_t array) override { return *sinks_.at(array); }

  void finish() override {
    for (std::size_t i = 1; i < headers_.size(); ++i) {
      bytes_.write("," + key(i));
      spools_[i - 1]->copy_to(bytes_);
      spools_[i - 1].reset();
    }
    bytes_.write("}\n");
  }

 private:
  std::string key(std::size_t array) const {
    std::string text;
    append_json_string(text, headers_[array].name);
    return text + ":";
  }

  std::vector<ArrayHeader> headers_;
  ByteSink& bytes_;
  std::vector<std::unique_ptr<Spool>> spools_;  // of all arrays but the first
  std::vector<std::unique_ptr<RowSink>> sinks_;
};

}  // namespace

std::unique_ptr<BundleWriter> make_bundle_writer(std::string_view format, const std::vector<ArrayHeader>& headers,
                                                 const WriteOptions& options, ByteSink& bytes) {
  const ArrayFormat* row = find_format(format);
  if (row != nullptr && row->bundle != nullptr) return row->bundle(headers, options, bytes);
  std::vector<std::string> names;
  for (const ArrayFormat& each : array_formats())
    if (each.bundle != nullptr) names.emplace_back(each.name);
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  fail_with_hint(ErrorKind::usage, did_you_mean(format, names), "several arrays cannot be written as '", printable(format, 40),
                 "', expected one of ", known);
}

const ArrayHeader& lead_header(const std::vector<ArrayHeader>& headers) {
  if (headers.empty()) fail(ErrorKind::internal, "a bundle without arrays");
  for (const std::string_view name : {"weights", "scores"})
    for (const ArrayHeader& header : headers)
      if (header.name == name) return header;
  return headers.front();
}

bool has_allowed(const ArrayHeader& lead) { return lead.visibility != nullptr && lead.shape.size() >= 2; }

AllowedArray::AllowedArray(const Visibility& visibility, const Shape& weights)
    : visibility_(visibility), rows_(weights[weights.size() - 2]), columns_(weights.back()), shape_(weights) {
  Index matrices = 1;
  for (std::size_t axis = 0; axis + 2 < weights.size(); ++axis) matrices *= weights[axis];
  const Index heads = weights.size() > 2 ? weights[weights.size() - 3] : 1;
  bool same_heads = true, same_batches = true;
  for (Index matrix = 1; matrix < matrices && same_heads; ++matrix)
    if (matrix % heads != 0)
      same_heads = same_matrix(matrix, matrix - 1);
    else
      same_batches = same_batches && same_matrix(matrix, matrix - heads);
  count_ = matrices;
  if (!same_heads || matrices == 0) return;
  step_ = heads;
  if (same_batches) {
    count_ = 1;
    shape_ = {rows_, columns_};
  } else {
    count_ = matrices / heads;
    shape_[shape_.size() - 3] = 1;
  }
}

bool AllowedArray::same_matrix(Index a, Index b) const {
  std::vector<Range> left, right;
  for (Index row = 0; row < rows_; ++row) {
    visibility_.allowed_keys(a * rows_ + row, left);
    visibility_.allowed_keys(b * rows_ + row, right);
    if (left != right) return false;
  }
  return true;
}

void AllowedArray::write(ByteSink& bytes) const {
  std::vector<char> cells(static_cast<std::size_t>(columns_));
  std::vector<Range> ranges;
  for (Index matrix = 0; matrix < count_; ++matrix)
    for (Index row = 0; row < rows_; ++row) {
      visibility_.allowed_keys(matrix * step_ * rows_ + row, ranges);
      std::fill(cells.begin(), cells.end(), 0);
      for (const Range& range : ranges) std::fill(cells.begin() + range.begin, cells.begin() + range.end, 1);
      bytes.write(cells.data(), cells.size());
    }
}

std::unique_ptr<BundleWriter> make_json_bundle(const std::vector<ArrayHeader>& headers, const WriteOptions& /*options*/,
                                               ByteSink& bytes) {
  return std::make_unique<JsonBundle>(headers, bytes);
}

}  // namespace v1
}  // namespace attn
