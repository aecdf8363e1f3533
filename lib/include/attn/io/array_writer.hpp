#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/base/array.hpp"
#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// What one array to be written is, besides its numbers.
struct ArrayHeader {
  std::string name;          ///< "weights", "scores", "output", "lse", "present_key", ...: the key in JSON and archives
  DType dtype = DType::f64;  ///< f32 or f64
  Shape shape;               ///< rank 1 to 4; the last axis is a row
  AxisLabels labels;
  /// Written as labels of a CSV? False for --no-labels and where the rules of the tool say bare numbers.
  bool with_labels = true;
  /// Further facts for JSON, in order: ("scale", 0.5), ("mask_text", "causal, top-left").
  std::vector<std::pair<std::string, std::variant<double, std::string>>> facts;
  /// Names of the axes before the last two, for CSV: {"batch"}, {"batch","head"}. Empty: by the array's name and rank.
  std::vector<std::string> leading_axes = {};
  const Visibility* visibility = nullptr;  ///< null: all cells allowed; must outlive the sink
};

/// What a writer does besides.
struct WriteOptions {
  bool csv_safe = false;  ///< an apostrophe before labels that a spreadsheet would run as a formula
};

/// The data format that a path's extension or a name stands for and that can be written; "" if there is none.
std::string data_format_of(std::string_view path_or_name);

/// A sink that writes one array in a data format (json, csv, tsv, npy, npz, safetensors). The byte sink must outlive it.
/// Every writer streams: it holds no more than the rows in flight. Throws `usage` for an unknown format; the sink throws
/// `output` when the bytes cannot be written.
std::unique_ptr<RowSink> make_array_writer(std::string_view format, const ArrayHeader& header, const WriteOptions& options,
                                           ByteSink& bytes);

/// Several arrays in one archive or JSON document (`--bundle`). Sinks are made up front, may be fed side by side, and
/// are finished in any order; arrays after the first are spooled in unlinked temporary files until `finish`.
class BundleWriter {
 public:
  virtual ~BundleWriter() = default;
  /// The sink stays valid until `finish`; the headers are those given to make_bundle_writer.
  virtual RowSink& sink(std::size_t array) = 0;
  /// After all sinks are finished: writes everything to the byte sink.
  virtual void finish() = 0;
};
/// A bundle of one sink for each header, in "npz", "safetensors" or "json". The byte sink must outlive it. Throws `usage`
/// for another format.
std::unique_ptr<BundleWriter> make_bundle_writer(std::string_view format, const std::vector<ArrayHeader>& headers,
                                                 const WriteOptions& options, ByteSink& bytes);

/// Notes a writer of `format` has about labels (a cell that a spreadsheet would run, text that is not UTF-8).
std::vector<std::string> label_notes(std::string_view format, const ArrayHeader& header, const WriteOptions& options);

}  // namespace v1
}  // namespace attn
