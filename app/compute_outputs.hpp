#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/compute_args.hpp"
#include "app/console.hpp"
#include "app/prepare.hpp"
#include "attn/io/array_writer.hpp"
#include "attn/io/output_file.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {

/// Shape of the weights that are written: [n,m] for one head of a rank-2 query, [H,n,m] for several, [B,H,n,m] for rank
/// 3 and 4; without the head axis where one head was picked or the heads are reduced.
Shape weights_shape(const AttentionShape& shape, const HeadChoice& choice);
/// [n], [H,n] or [B,H,n], and [n,m] and so on with `columns` at the end.
Shape rows_shape(const AttentionShape& shape);

/// What a picture of the weights shows.
PictureLayer weights_layer(const ComputeRequest& request, const Prepared& prepared, const Visibility* visibility);

/// All outputs of a run, opened before anything is computed: sinks for rows as they come, and then for finished arrays.
class ResultWriter {
 public:
  ResultWriter(const ComputeRequest& request, const Prepared& prepared, const AttentionReport& plan, Console& console);

  bool wants(Result result) const { return !sinks(result).empty(); }
  const std::vector<RowSink*>& sinks(Result result) const;

  /// Hands all rows of an array to the sinks of a result (or of a bundle's query, key and value).
  void write(Result result, const Array& array);
  void write_bundled_inputs();
  /// Trailers, pictures, bundles; then all files are put in their places. False if the reader of "-" went away.
  bool commit();
  /// Of pictures and formats, for people.
  std::vector<std::string> notes() const;

 private:
  struct Opened {
    std::unique_ptr<RowSink> sink;
    Picture* picture = nullptr;  ///< the same, if it is one
  };
  struct OpenedBundle {
    std::unique_ptr<BundleWriter> writer;
    std::vector<std::string> names;
    RowSink* find(std::string_view name);
  };

  bool has_head_rows(const Shape& shape) const;
  Shape shape_of(Result result) const;
  void describe_weights(ArrayHeader& header) const;
  void describe_scores(ArrayHeader& header) const;
  ArrayHeader header(Result result) const;
  ArrayHeader input_header(std::string name, const Array& array, bool rows_are_keys) const;
  ArrayHeader base_header(std::string name, Shape shape) const;
  std::vector<ArrayHeader> bundle_headers() const;
  void open(const OutputRequest& output);
  void open_picture(const OutputRequest& output, ByteSink& bytes);
  void open_bundle(const OutputRequest& output, ByteSink& bytes);
  void feed(const std::vector<RowSink*>& sinks, const Array& array) const;

  const ComputeRequest& request_;
  const Prepared& prepared_;
  const AttentionReport& plan_;
  Console& console_;
  std::unique_ptr<Visibility> weights_visibility_, scores_visibility_;
  OutputFiles files_;
  std::vector<Opened> opened_;
  std::vector<OpenedBundle> bundles_;
  std::vector<std::vector<RowSink*>> sinks_;  ///< by Result
  std::vector<std::string> notes_;
};

}  // namespace attn::app
