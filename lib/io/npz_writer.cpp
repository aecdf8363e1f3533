#include <algorithm>
#include <cstring>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/bundle.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/npz_zip_writer.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// The characters of a text, each as 4 bytes; ill-formed bytes become U+FFFD.
std::u32string characters(const std::string& text) {
  const std::string good = to_utf8(text);
  std::u32string result;
  for (std::size_t at = 0; at < good.size();) {
    const auto lead = static_cast<unsigned char>(good[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(good[at + i]) & 0x3fu);
    result += code;
    at += length;
  }
  return result;
}

/// An archive of .npy entries.
class NpzArchive {
 public:
  explicit NpzArchive(ByteSink& bytes) : zip_(bytes) {}

  /// Begins an array; its elements are written to the sink returned.
  ByteSink& begin(const std::string& name, std::string_view descr, const Shape& shape, std::uint64_t data_bytes) {
    const std::string preamble = npy_preamble(descr, shape);
    ByteSink& entry = zip_.begin(name + ".npy", preamble.size() + data_bytes);
    entry.write(preamble);
    return entry;
  }
  ByteSink& begin(const ArrayHeader& header) {
    return begin(header.name, npy_descr(header.dtype), header.shape, checked_bytes(header.shape, header.dtype, header.name));
  }
  void end() { zip_.end(); }

  void write_labels(const AxisLabels& labels) {
    write_texts("query_tokens", labels.query_tokens);
    write_texts("key_tokens", labels.key_tokens);
  }

  void write_allowed(const AllowedArray& allowed) {
    const std::size_t cells = checked_bytes(allowed.shape(), DType::boolean, "allowed");
    allowed.write(begin("allowed", npy_descr(DType::boolean), allowed.shape(), cells));
    end();
  }

  void finish() { zip_.finish(); }

 private:
  /// Texts of one width, filled up with zeros, as numpy holds them.
  void write_texts(const std::string& name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    std::size_t width = 1;
    for (const std::string& text : texts) width = std::max(width, characters(text).size());
    ByteSink& entry = begin(name, concat("<U", width), {static_cast<Index>(texts.size())}, 4 * width * texts.size());
    for (const std::string& text : texts) {
      std::u32string padded = characters(text);
      padded.resize(width, U'\0');
      entry.write(padded.data(), 4 * padded.size());
    }
    end();
  }

  ZipWriter zip_;
};

class NpzRowSink : public RowSink {
 public:
  NpzRowSink(const ArrayHeader& header, ByteSink& bytes)
      : labels_(header.labels), archive_(bytes), rows_(header.dtype, header.shape, archive_.begin(header)) {}

  void encode(const RowBlock& /*rows*/, std::string& /*encoded*/) const override {}
  void append(const RowBlock& rows, std::string_view encoded) override { rows_.append(rows, encoded); }
  void finish() override {
    rows_.finish();
    archive_.end();
    archive_.write_labels(labels_);
    archive_.finish();
  }

 private:
  AxisLabels labels_;
  NpzArchive archive_;
  PlainRowSink rows_;
};

class NpzBundle : public BundleWriter {
 public:
  NpzBundle(const std::vector<ArrayHeader>& headers, ByteSink& bytes) : headers_(headers), archive_(bytes) {
    lead_header(headers_);  // refuses an empty bundle
    sinks_.emplace_back(headers_[0].dtype, headers_[0].shape, archive_.begin(headers_[0]));
    for (std::size_t i = 1; i < headers_.size(); ++i) {
      spools_.push_back(std::make_unique<Spool>());
      sinks_.emplace_back(headers_[i].dtype, headers_[i].shape, *spools_.back());
    }
  }

  RowSink& sink(std::size_t array) override { return sinks_.at(array); }

  void finish() override {
    archive_.end();
    for (std::size_t i = 1; i < headers_.size(); ++i) {
      spools_[i - 1]->copy_to(archive_.begin(headers_[i]));
      archive_.end();
      spools_[i - 1].reset();
    }
    const ArrayHeader& lead = lead_header(headers_);
    if (has_allowed(lead)) archive_.write_allowed(AllowedArray(*lead.visibility, lead.shape));
    archive_.write_labels(lead.labels);
    archive_.finish();
  }

 private:
  std::vector<ArrayHeader> headers_;
  NpzArchive archive_;
  std::vector<std::unique_ptr<Spool>> spools_;  // of all arrays but the first
  std::vector<PlainRowSink> sinks_;
};

}  // namespace

std::unique_ptr<RowSink> make_npz_writer(const ArrayHeader& header, const WriteOptions& /*options*/, ByteSink& bytes) {
  return std::make_unique<NpzRowSink>(header, bytes);
}

std::unique_ptr<BundleWriter> make_npz_bundle(const std::vector<ArrayHeader>& headers, const WriteOptions& /*options*/,
                                              ByteSink& bytes) {
  return std::make_unique<NpzBundle>(headers, bytes);
}

}  // namespace v1
}  // namespace attn
