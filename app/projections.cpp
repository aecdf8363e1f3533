#include "app/projections.hpp"

#include <cstring>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

void check_weight(const Source& weight) {
  if (weight.array->rank() != 2)
    fail(ErrorKind::mismatch, weight.origin, ": a weight has two axes, found shape ", shape_text(weight.array->shape));
}

/// A bias is one row; CSV can write it as a row or as a column.
Index bias_size(const Source& bias) {
  const Shape& shape = bias.array->shape;
  const bool row = shape.size() == 1 || (shape.size() == 2 && (shape[0] == 1 || shape[1] == 1));
  if (!row) fail(ErrorKind::mismatch, bias.origin, ": a bias is one row, found shape ", shape_text(shape));
  return bias.array->size();
}

Index in_size(const Source& weight, WeightLayout layout) { return weight.array->shape[layout == WeightLayout::in_out ? 0 : 1]; }
Index out_size(const Source& weight, WeightLayout layout) { return weight.array->shape[layout == WeightLayout::in_out ? 1 : 0]; }

Range whole(Index size) { return {0, size}; }
Index length(const Range& range) { return range.end - range.begin; }

std::string_view layout_text(WeightLayout layout) { return layout == WeightLayout::in_out ? "[in,out]" : "[out,in]"; }

}  // namespace

Projections::Projections(const ComputeRequest& request, const Sources& sources)
    : sources_(sources), wanted_layout_(request.weight_layout) {
  query_ = layer_of(Input::w_q, Input::b_q);
  key_ = layer_of(Input::w_k, Input::b_k);
  value_ = layer_of(Input::w_v, Input::b_v);
  output_ = layer_of(Input::w_o, Input::b_o);
  if (sources.has(Input::w_qkv)) split_packed(request, sources);
  if (sources.has(Input::b_qkv)) split_packed_bias(sources);
}

WeightLayout Projections::layout_of(const Source& weight) {
  check_weight(weight);
  if (wanted_layout_) return *wanted_layout_;
  const WeightLayout layout = is_torch_name(weight.member) ? WeightLayout::out_in : WeightLayout::in_out;
  const bool square = weight.array->shape[0] == weight.array->shape[1];
  // Only here can a wrong guess pass unseen: any other shape would not fit.
  if (square && weight.member.ends_with(".weight"))
    notes_.push_back(concat(weight.origin, " is square and was read as ", layout_text(layout),
                            "; if it is the other way round, say --weight-layout ",
                            layout == WeightLayout::in_out ? "out_in" : "in_out"));
  return layout;
}

Projections::Layer Projections::layer_of(Input weight, Input bias) {
  Layer layer;
  if (sources_.has(weight)) {
    layer.weight = &sources_.at(weight);
    layer.layout = layout_of(*layer.weight);
    layer.weight_part = whole(out_size(*layer.weight, layer.layout));
  }
  if (sources_.has(bias)) {
    layer.bias = &sources_.at(bias);
    layer.bias_part = whole(bias_size(*layer.bias));
  }
  return layer;
}

/// The outputs are H·d of the query, G·d of the key and G·v of the value. The sum alone does not tell v from d: they are
/// equal unless W_O, which takes H·v, says otherwise.
void Projections::split_packed(const ComputeRequest& request, const Sources& sources) {
  const Source& weight = sources.at(Input::w_qkv);
  const WeightLayout layout = layout_of(weight);
  const Index total = out_size(weight, layout);
  const Index heads = request.heads.value_or(1), kv_heads = request.kv_heads.value_or(heads);
  Index head_size = total / (heads + 2 * kv_heads), value_size = head_size;
  if (output_.weight && in_size(*output_.weight, output_.layout) % heads == 0) {
    const Index wanted = in_size(*output_.weight, output_.layout) / heads;
    const Index rest = total - kv_heads * wanted;
    if (rest > 0 && rest % (heads + kv_heads) == 0) {
      value_size = wanted;
      head_size = rest / (heads + kv_heads);
    }
  }
  if (head_size == 0 || (heads + kv_heads) * head_size + kv_heads * value_size != total)
    fail(ErrorKind::mismatch, weight.origin, " of shape ", shape_text(weight.array->shape), " has ", total, " outputs as ",
         layout_text(layout), ", which ", heads, " query and ", kv_heads, " key/value heads cannot share");
  const Index key_begin = heads * head_size, value_begin = key_begin + kv_heads * head_size;
  const Range parts[] = {{0, key_begin}, {key_begin, value_begin}, {value_begin, total}};
  Layer* layers[] = {&query_, &key_, &value_};
  for (std::size_t i = 0; i < 3; ++i) {
    layers[i]->weight = &weight;
    layers[i]->layout = layout;
    layers[i]->weight_part = parts[i];
  }
}

/// A packed bias stands beside packed weights, or beside weights given one by one (torch's q_proj_weight and so on).
void Projections::split_packed_bias(const Sources& sources) {
  const Source& bias = sources.at(Input::b_qkv);
  const Index total = bias_size(bias);
  Index begin = 0;
  for (Layer* layer : {&query_, &key_, &value_}) {
    if (!layer->weight)
      fail(ErrorKind::mismatch, bias.origin, ": a packed bias needs the weights of query, key and value, whose sizes split it");
    layer->bias = &bias;
    layer->bias_part = {begin, begin + length(layer->weight_part)};
    begin = layer->bias_part.end;
  }
  if (begin != total)
    fail(ErrorKind::mismatch, bias.origin, " has ", total, " numbers, but the weights have ", begin, " outputs");
}

const Projections::Layer& Projections::layer(Input role) const {
  return role == Input::query ? query_ : role == Input::key ? key_ : value_;
}

Projection Projections::projection_of(const Layer& layer, Index width, Array& bias, const MemoryBudget& budget) const {
  Projection projection;
  projection.layout = layer.layout;
  projection.out = layer.weight ? layer.weight_part : whole(width);
  if (layer.weight) {
    projection.weight = layer.weight->array.get();
    projection.name = layer.weight->origin;
  }
  if (!layer.bias) return projection;
  if (!layer.weight) projection.name = layer.bias->origin;
  if (length(layer.bias_part) != length(projection.out))
    fail(ErrorKind::mismatch, layer.bias->origin, " has ", length(layer.bias_part), " numbers, but ",
         layer.weight ? layer.weight->origin : "what it is added to", " has ", length(projection.out), " outputs");
  // The library wants a bias as long as the whole weight; the part that is not meant stays 0.
  const Index outputs = layer.weight ? out_size(*layer.weight, layer.layout) : width;
  const Array& given = *layer.bias->array;
  bias = make_array(given.dtype, {outputs}, budget, layer.bias->origin);
  const std::size_t size = item_size(given.dtype);
  std::memset(bias.bytes.data(), 0, bias.bytes.size());
  std::memcpy(bias.bytes.data() + static_cast<std::size_t>(projection.out.begin) * size,
              given.bytes.data() + static_cast<std::size_t>(layer.bias_part.begin) * size,
              static_cast<std::size_t>(length(projection.out)) * size);
  projection.bias = &bias;
  return projection;
}

Tensor Projections::apply(Input role, const Source& source, const AttentionOptions& options, const RunContext& run) const {
  const Layer& chosen = layer(role);
  Tensor tensor{source.array, source, false, source.origin};
  if (!chosen.weight && !chosen.bias) return tensor;
  const Array& rows = *source.array;
  if (rows.rank() != 2 && rows.rank() != 3)
    fail(ErrorKind::mismatch, source.origin, " has shape ", shape_text(rows.shape),
         "; what is projected has shape [n,in] or [B,n,in]");
  if (chosen.weight && in_size(*chosen.weight, chosen.layout) != width_of(rows))
    fail_with_hint(ErrorKind::mismatch, "--weight-layout says which axis of a weight is which", chosen.weight->origin, " takes ",
                   in_size(*chosen.weight, chosen.layout), " columns (shape ", shape_text(chosen.weight->array->shape),
                   " read as ", layout_text(chosen.layout), "), but ", source.origin, " has ", width_of(rows));
  Array bias;
  const Projection projection = projection_of(chosen, width_of(rows), bias, run.budget);
  tensor.array = std::make_shared<const Array>(project(rows, projection, options, run));
  tensor.projected = true;
  tensor.origin = concat(source.origin, " through ", projection.name);
  return tensor;
}

std::optional<Projection> Projections::output_layer(Index merged_width, std::shared_ptr<const Array>& bias,
                                                    const MemoryBudget& budget) const {
  if (!output_.weight && !output_.bias) return std::nullopt;
  if (output_.weight && in_size(*output_.weight, output_.layout) != merged_width)
    fail_with_hint(ErrorKind::mismatch, "--weight-layout says which axis of a weight is which", output_.weight->origin, " takes ",
                   in_size(*output_.weight, output_.layout), " columns (shape ", shape_text(output_.weight->array->shape),
                   " read as ", layout_text(output_.layout), "), but the merged heads have ", merged_width);
  auto row = std::make_shared<Array>();
  const Projection projection = projection_of(output_, merged_width, *row, budget);
  bias = row;
  return projection;
}

}  // namespace attn::app
