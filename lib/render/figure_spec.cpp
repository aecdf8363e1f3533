#include "render/figure_spec.hpp"

#include <array>
#include <utility>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/color_range.hpp"
#include "render/label_text.hpp"

namespace attn {
inline namespace v1 {
namespace {

void check_range(const char* option, Index value, Index least, Index most) {
  if (value < least || value > most) fail(ErrorKind::usage, option, " is ", value, ", it must be from ", least, " to ", most);
}

void check_options(const PictureOptions& options) {
  check_color_options(options);
  check_range("--digits", options.digits, 0, 17);
  if (options.dpi != 0) check_range("--dpi", options.dpi, 20, 2400);
  if (options.cell_pixels) check_range("--cell", *options.cell_pixels, 1, 16384);
  if (options.width_pixels) check_range("--width", *options.width_pixels, 1, 16384);
  if (options.labels == LabelMode::every) check_range("--labels", options.label_every, 1, 1'000'000'000);
  if (options.cell_pixels && options.width_pixels)
    fail(ErrorKind::usage, "--cell and --width do not go together: each of them decides the size of the cells");
}

void check_shape(const Shape& shape, const std::string& where) {
  if (shape.size() < 2 || shape.size() > 4)
    fail(ErrorKind::usage, "a picture needs an array of 2 to 4 axes, not one of shape ", shape_text(shape));
  const std::size_t rank = shape.size();
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (shape[axis] <= 0)
      fail(ErrorKind::mismatch, where.empty() ? "an array of" : printable_end(where) + ":", " shape ", shape_text(shape),
           " has no ",
           axis + 1 == rank   ? "columns"
           : axis + 2 == rank ? "rows"
                              : "matrices",
           ", nothing to draw");
  checked_size(shape, "the picture");
}

void check_labels(const char* what, const std::vector<std::string>& tokens, Index count) {
  if (!tokens.empty() && static_cast<Index>(tokens.size()) != count)
    fail(ErrorKind::mismatch, tokens.size(), " ", what, " tokens for ", count, " ", what, " positions");
}

Index head_number(const PictureLayer& layer, Index head) {
  const std::size_t at = static_cast<std::size_t>(head);
  return at < layer.heads.size() ? layer.heads[at] : head;
}

std::vector<std::string> panel_titles(const PictureLayer& layer, Index batches, Index heads) {
  std::vector<std::string> titles;
  // A single head that was picked by its number has lost its axis: its number is in the list all the same.
  const bool has_head = !layer.reduced && (layer.shape.size() == 4 || layer.heads.size() == 1 ||
                                           (layer.shape.size() == 3 && (layer.heads.empty() || heads > 1)));
  for (Index batch = 0; batch < batches; ++batch)
    for (Index head = 0; head < heads; ++head) {
      std::string title = batches > 1 ? concat("batch ", batch) : "";
      if (has_head) title += concat(title.empty() ? "" : ", ", "head ", head_number(layer, head));
      titles.push_back(std::move(title));
    }
  if (titles.size() == 1 && titles[0].empty()) titles.clear();
  return titles;
}

std::string value_name(const std::string& kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames = {
      {{"weights", "attention weight"}, {"scores", "score"}, {"difference", "difference"}}};
  for (const auto& [known, name] : kNames)
    if (kind == known) return std::string(name);
  return kind.empty() ? std::string("value") : visible_label(kind, 60);
}

}  // namespace

FigureSpec figure_spec(const PictureSpec& spec) {
  if (spec.layers.size() != 1)
    fail_with_hint(ErrorKind::usage, "pick one with ARCHIVE:NAME, or write an .html file, which shows them all",
                   "this picture shows one array, ", spec.layers.size(), " were given");
  const PictureLayer& layer = spec.layers.front();
  check_shape(layer.shape, layer.where);
  check_options(spec.options);
  const std::size_t rank = layer.shape.size();
  FigureSpec figure;
  figure.options = spec.options;
  figure.version = spec.version;
  figure.visibility = layer.visibility;
  figure.queries = layer.shape[rank - 2];
  figure.keys = layer.shape[rank - 1];
  // Of three axes the first is the heads, or the batch where the heads were reduced or one was picked.
  const bool first_is_batch = rank == 3 && (layer.reduced || (layer.heads.size() == 1 && layer.shape[0] != 1));
  const Index batches = rank == 4 || first_is_batch ? layer.shape[0] : 1;
  figure.heads = rank == 4 ? layer.shape[1] : rank == 3 && !first_is_batch ? layer.shape[0] : 1;
  figure.panels = batches * figure.heads;
  figure.panel_titles = panel_titles(layer, batches, figure.heads);
  check_labels("query", layer.labels.query_tokens, figure.queries);
  check_labels("key", layer.labels.key_tokens, figure.keys);
  const bool pretty = spec.options.prettify;
  figure.query_tokens = pretty ? prettify_labels(layer.labels.query_tokens) : layer.labels.query_tokens;
  figure.key_tokens = pretty ? prettify_labels(layer.labels.key_tokens) : layer.labels.key_tokens;
  if (!spec.options.title.empty()) figure.title = visible_label(spec.options.title, 300);
  figure.value_name = value_name(layer.kind);
  return figure;
}

}  // namespace v1
}  // namespace attn
