#include <cairo-svg.h>

#include <algorithm>
#include <map>
#include <string>

#include "attn/base/error.hpp"
#include "render/figure_picture.hpp"
#include "render/label_text.hpp"
#include "render/renderer.hpp"
#include "render/vector_file.hpp"

namespace attn {
inline namespace v1 {
namespace {

void check_svg(const Layout&, const MemoryBudget&) {}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

std::string label_list(const char* axis, const std::vector<std::string>& tokens, Index count) {
  if (tokens.empty()) return concat(axis, ": 0 to ", count - 1, "\n");
  constexpr std::size_t kListed = 10'000, kLongest = 200;
  std::string list = concat(axis, ":");
  for (std::size_t i = 0; i < tokens.size() && i < kListed; ++i) list += concat(" ", visible_label(tokens[i], kLongest));
  if (tokens.size() > kListed) list += concat(" … (", tokens.size(), ")");
  return list + "\n";
}

/// Cairo draws text as outlines: who searches, copies or listens finds the words here.
std::string description(const Figure& figure) {
  const FigureSpec& spec = figure.spec;
  std::string words = spec.title.empty() ? "" : spec.title + "\n";
  for (const std::string& title : spec.panel_titles) words += title + (&title == &spec.panel_titles.back() ? "\n" : ", ");
  words += label_list("Query", spec.query_tokens, spec.queries);
  words += label_list("Key", spec.key_tokens, spec.keys);
  words += concat("Color: ", spec.value_name, ", ", scale_text(figure.range));
  const std::string pooling = pooling_text(figure.layout.cells, spec.options, figure.range.by_magnitude());
  if (!pooling.empty()) words += "\n" + pooling;
  return "<desc>" + escaped(words) + "</desc>\n";
}

/// Cairo numbers surfaces and images through the whole life of the process; here they are numbered through the file.
std::string with_own_numbers(const std::string& svg, std::string_view name) {
  std::map<std::string, std::size_t> numbers;
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = svg.find(name); at != std::string::npos; at = svg.find(name, from)) {
    const std::size_t begin = at + name.size();
    std::size_t end = begin;
    while (end < svg.size() && svg[end] >= '0' && svg[end] <= '9') ++end;
    out.append(svg, from, begin - from);
    const bool is_name = end > begin && at > 0 && (svg[at - 1] == '"' || svg[at - 1] == '#');
    if (is_name)
      out += std::to_string(numbers.emplace(svg.substr(begin, end - begin), numbers.size() + 1).first->second);
    else
      out.append(svg, begin, end - begin);
    from = end;
  }
  return out.append(svg, from, std::string::npos);
}

/// Cairo does not pass on that images are scaled without smoothing.
std::string with_sharp_images(std::string svg) {
  constexpr std::string_view kImage = "<image ", kSharp = "style=\"image-rendering:crisp-edges;image-rendering:pixelated\" ";
  for (std::size_t at = svg.find(kImage); at != std::string::npos; at = svg.find(kImage, at)) {
    at += kImage.size();
    svg.insert(at, kSharp);
  }
  return svg;
}

/// Cairo does not pass on either which shapes have edges without smoothing: here, all rectangles. What else is filled, such
/// as letters and arrows, has curves or three corners.
std::string with_sharp_rectangles(std::string_view svg) {
  constexpr std::string_view kFilled = "<path style=\" stroke:none;", kSharp = "shape-rendering=\"crispEdges\" ";
  constexpr std::size_t kName = std::string_view("<path ").size();
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = svg.find(kFilled); at != std::string_view::npos; at = svg.find(kFilled, from)) {
    const std::string_view tag = svg.substr(at, svg.find('>', at) - at);
    const bool rectangle = std::count(tag.begin(), tag.end(), 'L') == 3 && tag.find('C') == std::string_view::npos;
    out += svg.substr(from, at + kName - from);
    if (rectangle) out += kSharp;
    from = at + kName;
  }
  return out.append(svg.substr(from));
}

void save_svg(const Figure& figure, Fonts& fonts, ByteSink& bytes, const MemoryBudget&) {
  TextSink drawn;
  SurfaceStream stream(drawn);
  const VectorSurface surface(
      cairo_svg_surface_create_for_stream(SurfaceStream::write, &stream, points_wide(figure.layout), points_high(figure.layout)));
  draw_on_surface(surface, figure, fonts);
  stream.rethrow();
  const std::string svg =
      with_sharp_rectangles(with_sharp_images(with_own_numbers(with_own_numbers(drawn.text, "surface"), "image")));
  const std::size_t head = svg.find('>', svg.find("<svg"));
  if (head == std::string::npos) fail(ErrorKind::internal, "cairo wrote no svg element");
  bytes.write(std::string_view(svg).substr(0, head + 1));
  bytes.write("\n" + description(figure));
  bytes.write(std::string_view(svg).substr(head + 1));
}

}  // namespace

std::unique_ptr<Picture> make_svg_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget) {
  return std::make_unique<FigurePicture>(spec, bytes, budget, save_svg, check_svg);
}

}  // namespace v1
}  // namespace attn
