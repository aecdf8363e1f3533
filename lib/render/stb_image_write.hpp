#pragma once

#include <cstdint>
#include <string>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// Encodes 8-bit RGB pixels (3·width bytes a row, no padding) as a PNG of the chunks IHDR, IDAT and IEND.
/// Throws `usage` for sizes the encoder cannot count, `memory` when it runs out.
std::string encode_png(const std::uint8_t* rgb, Index width, Index height);

/// The check of sizes alone: at least one pixel, (3·width + 1) · height below 2^31.
void check_png_size(Index width, Index height);

}  // namespace v1
}  // namespace attn
