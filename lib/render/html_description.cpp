#include "render/html_description.hpp"

#include <cmath>
#include <map>
#include <string_view>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/colormap.hpp"
#include "render/html_json.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// The token lists of all layers, each different one once.
class TokenLists {
 public:
  explicit TokenLists(bool prettify) : prettify_(prettify) {}

  /// The number of a list, or "null" for an axis that is only counted.
  std::string add(const std::vector<std::string>& tokens) {
    if (tokens.empty()) return "null";
    const auto [place, is_new] = numbers_.try_emplace(tokens, numbers_.size());
    if (is_new) {
      if (!json_.empty()) json_ += ',';
      json_ += json_tokens(tokens, prettify_);
    }
    return std::to_string(place->second);
  }
  std::string json() const { return concat("[", json_, "]"); }

 private:
  bool prettify_;
  std::map<std::vector<std::string>, std::size_t> numbers_;
  std::string json_;
};

std::string describe_layer(const PictureLayer& layer, const HtmlLayer& plan, TokenLists& tokens) {
  JsonObject object;
  object.text("name", layer.name);
  object.text("kind", layer.kind);
  object.raw("batches", plan.has_batches ? std::to_string(plan.batches) : "null");
  std::vector<Index> heads = layer.heads;
  for (Index head = static_cast<Index>(heads.size()); head < plan.heads; ++head) heads.push_back(head);
  object.raw("heads", plan.has_heads ? json_list(heads) : "null");
  const bool single = !plan.has_heads && !layer.reduced && layer.heads.size() == 1;
  object.raw("single_head", single ? std::to_string(layer.heads.front()) : "null");
  object.flag("reduced", layer.reduced);
  object.raw("queries", std::to_string(plan.queries));
  object.raw("keys", std::to_string(plan.keys));
  object.raw("query_tokens", tokens.add(layer.labels.query_tokens));
  object.raw("key_tokens", tokens.add(layer.labels.key_tokens));
  object.flag("masked", plan.masked);
  object.raw("kept", std::to_string(plan.kept));
  object.raw("row_bytes", std::to_string(plan.row_bytes));
  return object.close();
}

template <typename Choice>
std::string_view choice_name(Choice choice, std::initializer_list<std::pair<Choice, std::string_view>> names) {
  for (const auto& [value, name] : names)
    if (value == choice) return name;
  return {};
}

std::string describe_options(const PictureOptions& options) {
  JsonObject object;
  object.optional("vmin", options.vmin);
  object.optional("vmax", options.vmax);
  object.optional("center", options.center);
  object.text("scale",
              choice_name<ColorScale>(options.color_scale,
                                      {{ColorScale::linear, "linear"}, {ColorScale::log, "log"}, {ColorScale::sqrt, "sqrt"}}));
  object.text("annotate",
              choice_name<Annotate>(options.annotate,
                                    {{Annotate::automatic, "auto"}, {Annotate::always, "always"}, {Annotate::never, "never"}}));
  object.raw("digits", std::to_string(options.digits));
  object.raw("cell", std::to_string(options.cell_pixels.value_or(0)));
  object.text("pool", options.pool == Pool::mean ? "mean" : "max");
  // Cells from one label to the next: 0 for none, null for as many as fit.
  object.raw("label_step", options.labels == LabelMode::automatic ? "null"
                           : options.labels == LabelMode::none    ? "0"
                           : options.labels == LabelMode::every   ? std::to_string(options.label_every)
                                                                  : "1");
  object.text("font", options.font);
  return object.close();
}

std::string hex_colors(const Colormap& map) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const Rgb& color : map.colors)
    for (const std::uint8_t channel : {color.red, color.green, color.blue}) {
      text += kDigits[channel >> 4];
      text += kDigits[channel & 15];
    }
  return text;
}

}  // namespace

std::string describe_page(const PictureSpec& spec, const HtmlPlan& plan) {
  TokenLists tokens(spec.options.prettify);
  std::string layers = "[";
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    if (i > 0) layers += ',';
    layers += describe_layer(spec.layers[i], plan.layers[i], tokens);
  }
  JsonObject page;
  page.text("version", spec.version);
  page.text("packing", choice_name<HtmlPacking>(plan.packing, {{HtmlPacking::float32, "float32"},
                                                               {HtmlPacking::uint8, "uint8"},
                                                               {HtmlPacking::strongest, "strongest"}}));
  page.raw("options", describe_options(spec.options));
  page.raw("layers", layers + "]");
  page.raw("tokens", tokens.json());
  return page.close();
}

void check_facts(const PictureOptions& options, const HtmlFacts& facts) {
  if (options.color_scale == ColorScale::log && facts.min <= facts.max && facts.min < 0)
    fail(ErrorKind::mismatch, "a value is ", format_rounded(facts.min, 6),
         ", a log scale has no place for negative values; use --color-scale sqrt or linear");
}

std::string describe_facts(const PictureOptions& options, const HtmlFacts& facts) {
  const bool any = facts.min <= facts.max;
  const bool diverging = options.center.has_value() || (any && facts.min < 0);
  const Colormap& map = find_colormap(!options.colormap.empty() ? std::string_view(options.colormap)
                                      : diverging               ? "RdBu"
                                                                : "viridis");
  JsonObject object;
  object.optional("min", any ? std::optional(facts.min) : std::nullopt);
  object.optional("max", any ? std::optional(facts.max) : std::nullopt);
  object.optional("least", std::isfinite(facts.least) ? std::optional(facts.least) : std::nullopt);
  object.number("step", facts.step);
  object.raw("nan", std::to_string(facts.nan));
  object.raw("infinite", std::to_string(facts.infinite));
  object.raw("blocked", std::to_string(facts.blocked));
  object.raw("empty", std::to_string(facts.empty));
  object.raw("rounded", std::to_string(facts.rounded));
  object.text("colormap", map.name);
  object.flag("diverging", map.diverging);
  object.text("colors", hex_colors(map));
  return object.close();
}

}  // namespace v1
}  // namespace attn
