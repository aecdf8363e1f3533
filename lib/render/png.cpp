#include <cairo.h>
#include <zlib.h>

#include <cmath>
#include <memory>
#include <string>

#include "render/figure_picture.hpp"
#include "render/renderer.hpp"
#include "render/stb_image_write.hpp"

namespace attn {
inline namespace v1 {
namespace {

struct DestroyCairo {
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

std::size_t pixel_count(Index width, Index height) { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }

/// At its height: the surface, the rows that are encoded, the encoder's filtered copy of them, and what comes out.
void check_png(const Layout& layout, const MemoryBudget& budget) {
  check_png_size(layout.width, layout.height);
  budget.require(pixel_count(layout.width, layout.height) * 10, "the picture");
}

void append_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

std::string chunk(std::string_view type, std::string_view data) {
  std::string bytes;
  append_big_endian(bytes, static_cast<std::uint32_t>(data.size()));
  bytes.append(type).append(data);
  const auto* checked = reinterpret_cast<const Bytef*>(bytes.data() + 4);
  append_big_endian(bytes, static_cast<std::uint32_t>(crc32(crc32(0, nullptr, 0), checked, static_cast<uInt>(bytes.size() - 4))));
  return bytes;
}

std::string physical_size(int dpi) {
  std::string data;
  const auto per_metre = static_cast<std::uint32_t>(std::lround(dpi / 0.0254));
  append_big_endian(data, per_metre);
  append_big_endian(data, per_metre);
  data += '\1';
  return chunk("pHYs", data);
}

/// Uncompressed UTF-8 without a language.
std::string text_chunk(std::string_view keyword, std::string_view text) {
  std::string data(keyword);
  data += std::string_view("\0\0\0\0\0", 5);
  data += text;
  return chunk("iTXt", data);
}

std::string metadata(const Figure& figure) {
  const std::string pooling = pooling_text(figure.layout.cells, figure.spec.options, figure.range.by_magnitude());
  std::string chunks = physical_size(figure.spec.options.dpi);
  chunks += text_chunk("Software", "attn-cli " + figure.spec.version);
  if (!figure.spec.title.empty()) chunks += text_chunk("Title", figure.spec.title);
  chunks += text_chunk("Scale", scale_text(figure.range));
  chunks += text_chunk("Pooling", pooling.empty() ? "none" : pooling);
  return chunks;
}

/// The blue, green, red, unused bytes of cairo in one of three bytes; done in place, row by row from the top.
void pack_rgb(std::uint8_t* pixels, int stride, Index width, Index height) {
  std::uint8_t* out = pixels;
  for (Index y = 0; y < height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(pixels + y * stride);
    for (Index x = 0; x < width; ++x) {
      const std::uint32_t pixel = row[x];
      *out++ = static_cast<std::uint8_t>(pixel >> 16);
      *out++ = static_cast<std::uint8_t>(pixel >> 8);
      *out++ = static_cast<std::uint8_t>(pixel);
    }
  }
}

void save_png(const Figure& figure, Fonts& fonts, ByteSink& bytes, const MemoryBudget& budget) {
  const Index width = figure.layout.width, height = figure.layout.height;
  check_png_size(width, height);
  const int stride = cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, static_cast<int>(width));
  Buffer pixels = budget.allocate(static_cast<std::size_t>(stride) * static_cast<std::size_t>(height), "the picture");
  auto* data = reinterpret_cast<std::uint8_t*>(pixels.data());
  {
    const std::unique_ptr<cairo_surface_t, DestroyCairo> surface(
        cairo_image_surface_create_for_data(data, CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height), stride));
    const std::unique_ptr<cairo_t, DestroyCairo> cairo(cairo_create(surface.get()));
    draw_figure({cairo.get(), data, stride}, figure, fonts);
    check_drawn(cairo_status(cairo.get()));
    cairo_surface_flush(surface.get());
  }
  pack_rgb(data, stride, width, height);
  const std::string png = encode_png(data, width, height);
  constexpr std::size_t kHeader = 8 + 25;  // signature and IHDR
  bytes.write(std::string_view(png).substr(0, kHeader));
  bytes.write(metadata(figure));
  bytes.write(std::string_view(png).substr(kHeader));
}

}  // namespace

std::unique_ptr<Picture> make_png_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget) {
  return std::make_unique<FigurePicture>(spec, bytes, budget, save_png, check_png);
}

}  // namespace v1
}  // namespace attn
