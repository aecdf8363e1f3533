#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/renderer.hpp"

namespace attn {
inline namespace v1 {

std::span<const Renderer> renderers() {
  static constexpr std::array<Renderer, 5> kRenderers{{
      {"png", make_png_picture},
      {"svg", make_svg_picture},
      {"pdf", make_pdf_picture},
      {"html", make_html_picture},
      {"txt", make_txt_picture},
  }};
  return kRenderers;
}

std::vector<std::string> picture_format_names() {
  std::vector<std::string> names;
  for (const Renderer& renderer : renderers()) names.emplace_back(renderer.name);
  return names;
}

std::string picture_format_of(std::string_view path_or_name) {
  const std::size_t slash = path_or_name.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? path_or_name : path_or_name.substr(slash + 1);
  const std::size_t dot = file.rfind('.');
  std::string extension(dot == std::string_view::npos ? file : file.substr(dot + 1));
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const Renderer& renderer : renderers())
    if (renderer.name == extension) return extension;
  return {};
}

std::unique_ptr<Picture> make_picture(std::string_view format, const PictureSpec& spec, ByteSink& bytes,
                                      const MemoryBudget& budget) {
  for (const Renderer& renderer : renderers())
    if (renderer.name == format) return renderer.make(spec, bytes, budget);
  const std::vector<std::string> names = picture_format_names();
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  fail_with_hint(ErrorKind::usage, did_you_mean(format, names), "no picture format is called '", printable(format),
                 "'; known: ", known);
}

}  // namespace v1
}  // namespace attn
