#include "render/stb_image_write.hpp"

#include <zlib.h>

#include <cstdlib>
#include <new>

#include "attn/base/error.hpp"

namespace {

/// stb's own compressor is slower and packs worse; it takes malloc'ed memory, which it frees.
unsigned char* compress_with_zlib(unsigned char* bytes, int count, int* out_count, int quality) {
  uLongf size = compressBound(static_cast<uLong>(count));
  auto* out = static_cast<unsigned char*>(std::malloc(size));
  if (out == nullptr || compress2(out, &size, bytes, static_cast<uLong>(count), quality) != Z_OK || size > 0x7fffffff) {
    std::free(out);
    return nullptr;
  }
  *out_count = static_cast<int>(size);
  return out;
}

}  // namespace

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBIW_ZLIB_COMPRESS compress_with_zlib
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace attn {
inline namespace v1 {
namespace {

// Rows of a heat map repeat: the difference to the row above is nearly all zeros. Level 6 takes two to three times as long
// for a sixth less.
constexpr int kFilterUp = 2;
constexpr int kZlibLevel = 3;

void append_bytes(void* context, void* bytes, int count) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

/// The encoder's settings are variables of this file: set once, before any thread encodes.
void choose_settings() {
  static const bool done = [] {
    stbi_write_force_png_filter = kFilterUp;
    stbi_write_png_compression_level = kZlibLevel;
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

void check_png_size(Index width, Index height) {
  constexpr Index kLimit = Index{1} << 31;
  if (width <= 0 || height <= 0) fail(ErrorKind::usage, "a PNG of ", width, "×", height, " pixels: there must be at least one");
  if (width >= kLimit / 3 || height > (kLimit - 1) / (3 * width + 1))
    fail(ErrorKind::usage, "a PNG of ", width, "×", height, " pixels is too large to encode");
}

std::string encode_png(const std::uint8_t* rgb, Index width, Index height) {
  check_png_size(width, height);
  choose_settings();
  std::string png;
  const int done = stbi_write_png_to_func(append_bytes, &png, static_cast<int>(width), static_cast<int>(height), 3, rgb,
                                          static_cast<int>(3 * width));
  if (done == 0 || png.empty()) fail(ErrorKind::memory, "not enough memory to encode a PNG of ", width, "×", height, " pixels");
  return png;
}

}  // namespace v1
}  // namespace attn
