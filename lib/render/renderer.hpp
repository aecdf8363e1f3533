#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "attn/render/picture.hpp"

namespace attn {
inline namespace v1 {

/// One picture format: its name is the extension of its files.
struct Renderer {
  std::string_view name;
  std::unique_ptr<Picture> (*make)(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget);
};

/// THE LIST of picture formats.
std::span<const Renderer> renderers();

std::unique_ptr<Picture> make_png_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget);
std::unique_ptr<Picture> make_svg_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget);
std::unique_ptr<Picture> make_pdf_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget);
std::unique_ptr<Picture> make_html_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget);
std::unique_ptr<Picture> make_txt_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget);

}  // namespace v1
}  // namespace attn
