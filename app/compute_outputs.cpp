#include "app/compute_outputs.hpp"

#include <algorithm>
#include <array>

#include "app/outputs.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "base/parallel.hpp"
#include "base/row_delivery.hpp"
#include "version.hpp"

namespace attn::app {

namespace {

constexpr std::array<std::string_view, 7> kResultNames = {"weights",     "scores",        "output", "lse",
                                                          "present_key", "present_value", "bundle"};
static_assert(static_cast<std::size_t>(Result::bundle) + 1 == kResultNames.size());

std::string name_of(Result result) { return std::string(kResultNames[static_cast<std::size_t>(result)]); }

std::string_view stage_name(Stage stage) {
  constexpr std::string_view kNames[] = {"raw", "capped", "masked"};
  return kNames[static_cast<std::size_t>(stage)];
}

std::string_view reduce_name(Reduce reduce) {
  constexpr std::string_view kNames[] = {"none", "mean", "max", "min"};
  return kNames[static_cast<std::size_t>(reduce)];
}

Shape with_columns(Shape shape, Index columns) {
  shape.push_back(columns);
  return shape;
}

/// F(Q) has the rank and layout of the query; W_O merges the heads of rank 4.
Shape output_shape(const Prepared& prepared) {
  const AttentionShape& shape = prepared.shape;
  const Index merged = prepared.output_projection ? prepared.output_projection->out.end - prepared.output_projection->out.begin
                                                  : shape.heads * shape.value_size;
  if (shape.rank == 2) return {shape.queries, merged};
  if (shape.rank == 3 || prepared.output_projection) return {shape.batch, shape.queries, merged};
  if (shape.layout == TensorLayout::bhnd) return {shape.batch, shape.heads, shape.queries, shape.value_size};
  return {shape.batch, shape.queries, shape.heads, shape.value_size};
}

}  // namespace

Shape rows_shape(const AttentionShape& shape) {
  if (shape.rank > 2) return {shape.batch, shape.heads, shape.queries};
  return shape.heads == 1 ? Shape{shape.queries} : Shape{shape.heads, shape.queries};
}

Shape weights_shape(const AttentionShape& shape, const HeadChoice& choice) {
  const bool all = choice.heads.empty();
  const Index heads = all ? shape.heads : static_cast<Index>(choice.heads.size());
  Shape result;
  if (shape.rank > 2) result.push_back(shape.batch);
  // One head of a rank-2 query has no head axis of its own; a list that was asked for keeps it.
  const bool plain = shape.rank == 2 && shape.heads == 1 && all;
  if (!choice.drops_axis() && !plain) result.push_back(heads);
  result.push_back(shape.queries);
  result.push_back(shape.keys);
  return result;
}

PictureLayer weights_layer(const ComputeRequest& request, const Prepared& prepared, const Visibility* visibility) {
  PictureLayer layer;
  layer.name = "weights";
  layer.shape = weights_shape(prepared.shape, request.head_choice);
  layer.heads = request.head_choice.heads;
  layer.reduced = request.head_choice.reduce != Reduce::none;
  layer.labels = prepared.labels;
  layer.visibility = visibility;
  return layer;
}

ResultWriter::ResultWriter(const ComputeRequest& request, const Prepared& prepared, const AttentionReport& plan, Console& console)
    : request_(request),
      prepared_(prepared),
      plan_(plan),
      console_(console),
      files_(request.no_clobber),
      sinks_(kResultNames.size()) {
  const bool bundled = request.wants(Result::bundle);
  if (bundled || request.wants(Result::weights))
    weights_visibility_ = make_visibility(prepared.inputs, request.head_choice.heads, request.head_choice.reduce);
  if (bundled || request.wants(Result::scores)) scores_visibility_ = make_visibility(prepared.inputs, {}, Reduce::none);
  for (const OutputRequest& output : request.outputs) open(output);
}

const std::vector<RowSink*>& ResultWriter::sinks(Result result) const { return sinks_[static_cast<std::size_t>(result)]; }

ArrayHeader ResultWriter::base_header(std::string name, Shape shape) const {
  ArrayHeader header;
  header.name = std::move(name);
  header.dtype = prepared_.sources.dtype;
  header.shape = std::move(shape);
  header.facts = {{"scale", plan_.scale},
                  {"mask_text", plan_.mask_text},
                  {"precision", std::string(dtype_name(prepared_.sources.dtype))},
                  {"heads", static_cast<double>(prepared_.shape.heads)},
                  {"kv_heads", static_cast<double>(prepared_.shape.kv_heads)}};
  if (prepared_.options.softcap != 0) header.facts.emplace_back("softcap", prepared_.options.softcap);
  return header;
}

bool ResultWriter::has_head_rows(const Shape& shape) const {
  return shape.size() == 4 && prepared_.shape.layout == TensorLayout::bnhd;
}

Shape ResultWriter::shape_of(Result result) const {
  switch (result) {
    case Result::weights:
      return weights_shape(prepared_.shape, request_.head_choice);
    case Result::scores:
      return with_columns(rows_shape(prepared_.shape), prepared_.shape.keys);
    case Result::output:
      return output_shape(prepared_);
    case Result::lse:
      return rows_shape(prepared_.shape);
    case Result::present_key:
      return prepared_.present_key->shape;
    case Result::present_value:
      return prepared_.present_value->shape;
    case Result::bundle:
      break;
  }
  return {};
}

void ResultWriter::describe_weights(ArrayHeader& header) const {
  header.visibility = weights_visibility_.get();
  header.labels = prepared_.labels;
  if (prepared_.shape.rank > 2) header.leading_axes.push_back("batch");
  if (header.shape.size() - header.leading_axes.size() > 2) header.leading_axes.push_back("head");
  const Reduce reduce = request_.head_choice.reduce;
  if (reduce != Reduce::none) header.facts.emplace_back("reduce", std::string(reduce_name(reduce)));
}

void ResultWriter::describe_scores(ArrayHeader& header) const {
  header.visibility = scores_visibility_.get();
  header.labels = prepared_.labels;
  header.facts.emplace_back("stage", std::string(stage_name(request_.stage)));
}

ArrayHeader ResultWriter::header(Result result) const {
  ArrayHeader header = base_header(name_of(result), shape_of(result));
  header.with_labels = request_.with_labels;
  if (result == Result::weights) {
    describe_weights(header);
  } else if (result == Result::scores) {
    describe_scores(header);
  } else if (result != Result::lse && has_head_rows(header.shape)) {
    // The rows of [B,n,H,d] are heads, for which a table by batch, head and query has no place.
    header.with_labels = false;
  } else if (result == Result::present_key || result == Result::present_value) {
    header.labels.key_tokens = prepared_.labels.key_tokens;
  } else {
    header.labels.query_tokens = prepared_.labels.query_tokens;
  }
  return header;
}

ArrayHeader ResultWriter::input_header(std::string name, const Array& array, bool rows_are_keys) const {
  ArrayHeader header = base_header(std::move(name), array.shape);
  const std::vector<std::string>& tokens = rows_are_keys ? prepared_.labels.key_tokens : prepared_.labels.query_tokens;
  // Key tokens count the past too, which the new rows alone do not have.
  if (has_head_rows(array.shape) || static_cast<Index>(tokens.size()) != row_count(array, prepared_.shape.layout)) return header;
  header.labels = rows_are_keys ? AxisLabels{{}, tokens} : AxisLabels{tokens, {}};
  return header;
}

std::vector<ArrayHeader> ResultWriter::bundle_headers() const {
  const bool valued = prepared_.value.has_value();
  std::vector<ArrayHeader> headers{header(Result::weights)};
  if (valued) headers.push_back(header(Result::output));
  headers.push_back(header(Result::scores));
  headers.push_back(header(Result::lse));
  headers.push_back(input_header("query", *prepared_.query.array, false));
  headers.push_back(input_header("key", *prepared_.key.array, true));
  if (valued) headers.push_back(input_header("value", *prepared_.value->array, true));
  headers.push_back(header(Result::present_key));
  if (valued) headers.push_back(header(Result::present_value));
  return headers;
}

RowSink* ResultWriter::OpenedBundle::find(std::string_view name) {
  const auto place = std::find(names.begin(), names.end(), name);
  return place == names.end() ? nullptr : &writer->sink(static_cast<std::size_t>(place - names.begin()));
}

void ResultWriter::open_bundle(const OutputRequest& output, ByteSink& bytes) {
  const std::vector<ArrayHeader> headers = bundle_headers();
  const WriteOptions options{request_.csv_safe};
  OpenedBundle bundle;
  bundle.writer = make_bundle_writer(output.format, headers, options, bytes);
  for (const ArrayHeader& header : headers) bundle.names.push_back(header.name);
  for (std::size_t result = 0; result < kResultNames.size(); ++result)
    if (RowSink* sink = bundle.find(kResultNames[result])) sinks_[result].push_back(sink);
  bundles_.push_back(std::move(bundle));
}

void ResultWriter::open_picture(const OutputRequest& output, ByteSink& bytes) {
  PictureSpec spec;
  spec.layers.push_back(weights_layer(request_, prepared_, weights_visibility_.get()));
  if (output.result == Result::scores) {
    PictureLayer& layer = spec.layers.back();
    layer = {};
    layer.name = layer.kind = "scores";
    layer.shape = with_columns(rows_shape(prepared_.shape), prepared_.shape.keys);
    layer.labels = prepared_.labels;
    layer.visibility = scores_visibility_.get();
  }
  spec.options = request_.picture;
  if (output.path != "-" && !request_.color_files) spec.options.terminal_color = TerminalColor::plain;
  spec.version = kVersion;
  auto picture = make_picture(output.format, spec, bytes, console_.run().budget);
  sinks_[static_cast<std::size_t>(output.result)].push_back(picture.get());
  Picture* const shown = picture.get();
  opened_.push_back({std::move(picture), shown});
}

void ResultWriter::open(const OutputRequest& output) {
  ByteSink& bytes = files_.open(output.path);
  if (output.result == Result::bundle) return open_bundle(output, bytes);
  if (output.picture) return open_picture(output, bytes);
  const ArrayHeader described = header(output.result);
  const WriteOptions options{request_.csv_safe};
  for (std::string& note : label_notes(output.format, described, options)) notes_.push_back(std::move(note));
  opened_.push_back({make_array_writer(output.format, described, options, bytes), nullptr});
  sinks_[static_cast<std::size_t>(output.result)].push_back(opened_.back().sink.get());
}

void ResultWriter::feed(const std::vector<RowSink*>& sinks, const Array& array) const {
  if (sinks.empty()) return;
  const Index columns = array.shape.back();
  const Index rows = columns == 0 ? checked_size({array.shape.begin(), array.shape.end() - 1}, "rows") : array.size() / columns;
  constexpr Index kElementsAtOnce = 1 << 15;
  const Index at_once = std::max<Index>(1, kElementsAtOnce / std::max<Index>(1, columns));
  const int threads = console_.run().threads;
  RowDelivery delivery(sinks);
  std::vector<std::vector<std::string>> scratch(static_cast<std::size_t>(std::max(1, threads)));
  parallel_for((rows + at_once - 1) / at_once, threads, [&](Index task, int worker) {
    const Index first = task * at_once;
    const auto offset = static_cast<std::size_t>(first * columns) * item_size(array.dtype);
    const RowBlock block{first, std::min(at_once, rows - first), columns, array.dtype, array.bytes.data() + offset, columns};
    delivery.deliver(task, block, scratch[static_cast<std::size_t>(worker)]);
  });
}

void ResultWriter::write(Result result, const Array& array) { feed(sinks(result), array); }

void ResultWriter::write_bundled_inputs() {
  const auto named = [this](std::string_view name) {
    std::vector<RowSink*> found;
    for (OpenedBundle& bundle : bundles_)
      if (RowSink* sink = bundle.find(name)) found.push_back(sink);
    return found;
  };
  feed(named("query"), *prepared_.query.array);
  feed(named("key"), *prepared_.key.array);
  if (prepared_.value) feed(named("value"), *prepared_.value->array);
}

bool ResultWriter::commit() {
  for (Opened& opened : opened_) {
    opened.sink->finish();
    if (!opened.picture) continue;
    for (std::string& note : opened.picture->notes()) notes_.push_back(std::move(note));
  }
  for (OpenedBundle& bundle : bundles_) {
    for (std::size_t i = 0; i < bundle.names.size(); ++i) bundle.writer->sink(i).finish();
    bundle.writer->finish();
  }
  return files_.commit();
}

std::vector<std::string> ResultWriter::notes() const { return notes_; }

}  // namespace attn::app
