#include "app/summary.hpp"

#include "app/compute_outputs.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/render/picture.hpp"
#include "version.hpp"

namespace attn::app {

namespace {

/// Weights up to this size are shown whole.
constexpr Index kMostRows = 16;
constexpr Index kMostPanels = 8;

class TextSink : public ByteSink {
 public:
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
  std::string text;
};

std::string counted(Index count, std::string_view one) { return concat(count, " ", one, count == 1 ? "" : "s"); }

std::string tensor_line(std::string_view role, const Array& array, const std::string& origin) {
  return concat(role, " ", shape_text(array.shape), "  ", printable(origin, 120), "\n");
}

}  // namespace

std::string summary_text(const Prepared& prepared, const AttentionReport& report) {
  const AttentionShape& shape = prepared.shape;
  std::string text = tensor_line("query     ", *prepared.query.array, prepared.query.origin);
  text += tensor_line("key       ", *prepared.key.array, prepared.key.origin);
  if (prepared.value) text += tensor_line("value     ", *prepared.value->array, prepared.value->origin);
  if (shape.past > 0) text += concat("past       ", counted(shape.past, "key"), ", so ", shape.keys, " in all\n");
  text += concat("heads      ", shape.heads,
                 shape.kv_heads == shape.heads ? "" : concat(" on ", counted(shape.kv_heads, "key/value head")), ", size ",
                 shape.head_size);
  if (prepared.value && shape.value_size != shape.head_size) text += concat(" (values ", shape.value_size, ")");
  text += concat("\nprecision  ", dtype_name(prepared.sources.dtype), "\nscale      ", format_rounded(report.scale, 6));
  if (prepared.options.softcap != 0) text += concat(", softcap ", format_rounded(prepared.options.softcap, 6));
  return text + concat("\nmask       ", report.mask_text, "\n");
}

AttentionReport print_summary(const ComputeRequest& request, const Prepared& prepared, Console& console) {
  const AttentionShape& shape = prepared.shape;
  const Shape weights = weights_shape(shape, request.head_choice);
  const Index panels = checked_size({weights.begin(), weights.end() - 2}, "weights");
  const bool small =
      shape.queries <= kMostRows && shape.keys <= kMostRows && panels <= kMostPanels && shape.queries > 0 && shape.keys > 0;
  AttentionReport report = check_attention(prepared.inputs, prepared.options);
  console.print(summary_text(prepared, report));
  if (!small) {
    console.print(concat("weights    ", shape_text(weights), ", not shown: write them with -w FILE or --heatmap FILE\n"));
    return report;
  }
  const auto visibility = make_visibility(prepared.inputs, request.head_choice.heads, request.head_choice.reduce);
  PictureSpec spec{{weights_layer(request, prepared, visibility.get())}, request.picture, kVersion};
  TextSink bytes;
  const auto picture = make_picture("txt", spec, bytes, console.run().budget);
  AttentionOutputs outputs;
  outputs.weights = {{picture.get()}, request.head_choice.heads, request.head_choice.reduce};
  report = attend(prepared.inputs, prepared.options, outputs, console.run());
  picture->finish();
  for (const std::string& note : picture->notes()) console.note(note);
  console.print("\n" + bytes.text);
  return report;
}

}  // namespace attn::app
