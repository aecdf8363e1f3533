#include "app/prepare.hpp"

#include <algorithm>

#include "app/projections.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

const Source& first_of(const Sources& sources, std::initializer_list<Input> inputs) {
  for (const Input input : inputs)
    if (sources.has(input)) return sources.at(input);
  fail(ErrorKind::internal, "no source of ", option_of(*inputs.begin()));
}

void project_inputs(const Projections& projections, const RunContext& run, Prepared& prepared) {
  const Sources& sources = prepared.sources;
  const AttentionOptions& options = prepared.options;
  prepared.query = projections.apply(Input::query, first_of(sources, {Input::query, Input::embeddings}), options, run);
  prepared.key = projections.apply(Input::key, first_of(sources, {Input::key, Input::context, Input::embeddings}), options, run);
  if (sources.has(Input::value) || sources.has(Input::embeddings))
    prepared.value =
        projections.apply(Input::value, first_of(sources, {Input::value, Input::context, Input::embeddings}), options, run);
}

/// Key and value as attention reads them: the new rows, behind the past if there is one.
void join_past(const MemoryBudget& budget, Prepared& prepared) {
  AttentionShape& shape = prepared.shape;
  const Sources& sources = prepared.sources;
  prepared.inputs.key = split_heads(*prepared.key.array, shape.kv_heads, shape.layout, prepared.key.origin);
  prepared.present_key = prepared.key.array;
  if (prepared.value) {
    prepared.inputs.value = split_heads(*prepared.value->array, shape.kv_heads, shape.layout, prepared.value->origin);
    prepared.present_value = prepared.value->array;
  }
  if (!sources.has(Input::past_key)) return;
  Joined key = put_past_first(sources.at(Input::past_key), prepared.key, shape, "past_key", budget);
  if (!key.note.empty()) prepared.notes.push_back(key.note);
  prepared.past_key = key.past;
  prepared.present_key = key.array;
  prepared.inputs.key = key.view;
  shape.past = key.past.rows;
  shape.keys += shape.past;
  if (!prepared.value) return;
  Joined value = put_past_first(sources.at(Input::past_value), *prepared.value, shape, "past_value", budget);
  if (value.past.rows != shape.past)
    fail(ErrorKind::mismatch, sources.at(Input::past_key).origin, " has ", shape.past, " past keys and ",
         sources.at(Input::past_value).origin, " has ", value.past.rows, " past values; they must match");
  prepared.past_value = value.past;
  prepared.present_value = value.array;
  prepared.inputs.value = value.view;
}

std::vector<double> sink_logits(const Sources& sources, Index heads) {
  if (!sources.has(Input::sinks)) return {};
  const Source& source = sources.at(Input::sinks);
  const Array& array = *source.array;
  if (array.size() != heads || *std::max_element(array.shape.begin(), array.shape.end()) != heads)
    fail(ErrorKind::mismatch, source.origin, " has shape ", shape_text(array.shape), ", expected one sink for each of ", heads,
         " heads");
  std::vector<double> sinks(static_cast<std::size_t>(heads));
  convert_elements(array.dtype, array.bytes.data(), heads, sinks.data());
  return sinks;
}

void gather_masks(const ComputeRequest& request, Prepared& prepared) {
  const Sources& sources = prepared.sources;
  MaskOptions& masks = prepared.inputs.masks;
  masks = request.masks;
  masks.past = prepared.shape.past;
  masks.key_lengths = sources.key_lengths;
  masks.key_documents = sources.documents;
  masks.query_documents = sources.query_documents;
  const auto add = [&](Input input, MaskKind kind) {
    if (sources.has(input)) masks.arrays.push_back({sources.at(input).array.get(), kind, sources.at(input).origin});
  };
  add(Input::mask, request.mask_kind.value_or(MaskKind::keep));
  add(Input::bias, MaskKind::add);
}

void check_count(std::string_view what, const std::string& where, std::size_t found, Index expected, std::string_view rows) {
  if (static_cast<Index>(found) != expected)
    fail(ErrorKind::mismatch, where, ": found ", found, " ", what, ", expected ", expected, ", one for each ", rows);
}

/// Tokens that were given must fit; labels that happen to stand in a file are taken if they do.
void gather_labels(Prepared& prepared) {
  const Sources& sources = prepared.sources;
  const AttentionShape& shape = prepared.shape;
  AxisLabels& labels = prepared.labels;
  if (!sources.tokens_where.empty()) {
    check_count("tokens", sources.tokens_where, sources.tokens.size(), shape.queries, "query");
    labels.query_tokens = sources.tokens;
  } else if (static_cast<Index>(prepared.query.source.labels.size()) == shape.queries) {
    labels.query_tokens = prepared.query.source.labels;
  }
  if (!sources.key_tokens_where.empty()) {
    check_count("key tokens", sources.key_tokens_where, sources.key_tokens.size(), shape.keys,
                shape.past ? "key, past ones too" : "key");
    labels.key_tokens = sources.key_tokens;
    return;
  }
  // In self-attention tokens that were given name the rows better than the file they come from.
  const std::vector<std::string>& own = prepared.key.source.labels;
  const bool renamed = prepared.key.source.array == prepared.query.source.array && !sources.tokens_where.empty();
  if (!own.empty() && static_cast<Index>(own.size()) == shape.keys && !renamed)
    labels.key_tokens = own;
  else if (shape.queries == shape.keys)
    labels.key_tokens = labels.query_tokens;
}

void check_head_choice(const ComputeRequest& request, const AttentionShape& shape) {
  for (const Index head : request.head_choice.heads)
    if (head >= shape.heads)
      fail(ErrorKind::usage, "--head ", head, ": there ",
           shape.heads == 1 ? "is 1 head, number 0" : concat("are ", shape.heads, " heads, 0 to ", shape.heads - 1));
}

void note_idle_options(const ComputeRequest& request, Prepared& prepared) {
  const bool rank_four_past = prepared.shape.past > 0 && prepared.sources.at(Input::past_key).array->rank() == 4;
  if (request.layout && prepared.shape.rank != 4 && !rank_four_past)
    prepared.notes.push_back(concat("--layout is for inputs of rank 4; the query has rank ", prepared.shape.rank));
}

}  // namespace

Prepared prepare(const ComputeRequest& request, const Document& document, InputFiles& files) {
  const RunContext& run = files.run();
  Prepared prepared;
  prepared.options = request.attention;
  prepared.notes = request.notes;
  prepared.sources = load_sources(request, document, files);
  const Projections projections(request, prepared.sources);
  project_inputs(projections, run, prepared);
  prepared.shape = resolve_shape(request, prepared.query, prepared.key, prepared.value ? &*prepared.value : nullptr);
  check_head_choice(request, prepared.shape);
  const AttentionShape& shape = prepared.shape;
  prepared.inputs.query = split_heads(*prepared.query.array, shape.heads, shape.layout, prepared.query.origin);
  join_past(run.budget, prepared);
  if (prepared.value)
    prepared.output_projection = projections.output_layer(shape.heads * shape.value_size, prepared.output_bias, run.budget);
  prepared.inputs.sinks = sink_logits(prepared.sources, shape.heads);
  gather_masks(request, prepared);
  gather_labels(prepared);
  note_idle_options(request, prepared);
  prepared.notes.insert(prepared.notes.end(), projections.notes().begin(), projections.notes().end());
  if (!request.attention.allow_nonfinite) refuse_nonfinite(prepared);
  return prepared;
}

}  // namespace attn::app
