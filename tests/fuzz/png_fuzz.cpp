// Pixels of a small picture. The file has the chunks of a PNG with the right checksums, and zlib and the rules of the
// format give the same pixels back.
#include <zlib.h>

#include <cstring>
#include <map>

#include "fuzz/support/check.hpp"
#include "fuzz/support/draws.hpp"
#include "render/stb_image_write.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

/// The contents of the chunks by type; the same type twice is one content.
std::map<std::string, std::string> chunks_of(std::string_view png) {
  require(png.starts_with("\x89PNG\r\n\x1a\n"), "the signature of a PNG");
  std::map<std::string, std::string> chunks;
  std::size_t at = 8;
  while (at < png.size()) {
    const std::size_t size = big_endian(png, at);
    require(size <= png.size() && at + 12 + size <= png.size(), "a chunk reaches past the end");
    const std::string_view checked = png.substr(at + 4, size + 4);
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    require(sum == big_endian(png, at + 8 + size), "the checksum of a chunk");
    chunks[std::string(checked.substr(0, 4))] += checked.substr(4);
    at += 12 + size;
  }
  require(at == png.size() && png.substr(png.size() - 8, 4) == "IEND", "a PNG ends in IEND");
  return chunks;
}

int paeth(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - above), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : (b <= c ? above : corner);
}

/// Takes the filters of the format off, in place, rows of `width` bytes behind one that names the filter.
void unfilter(std::string& raw, std::size_t width) {
  const auto at = [&](std::size_t row, std::size_t column, std::size_t back) {
    return column < back ? 0 : static_cast<int>(static_cast<unsigned char>(raw[row * (width + 1) + 1 + column - back]));
  };
  for (std::size_t row = 0; row < raw.size() / (width + 1); ++row)
    for (std::size_t i = 0; i < width; ++i) {
      const int left = at(row, i, 3), above = row > 0 ? at(row - 1, i, 0) : 0, corner = row > 0 ? at(row - 1, i, 3) : 0;
      const int filter = raw[row * (width + 1)];
      require(filter >= 0 && filter <= 4, "a filter that the format does not have");
      const int guesses[] = {0, left, above, (left + above) / 2, paeth(left, above, corner)};
      char& byte = raw[row * (width + 1) + 1 + i];
      byte = static_cast<char>(byte + guesses[filter]);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  // Small ones mostly: they are tried thousands of times as often.
  const std::int64_t most = draws.between(0, 15) == 0 ? 64 : 12;
  const auto width = static_cast<std::size_t>(draws.between(1, most));
  const auto height = static_cast<std::size_t>(draws.between(1, most));
  const std::string_view given = draws.rest();
  std::string pixels(3 * width * height, '\0');
  for (std::size_t i = 0; i < pixels.size() && !given.empty(); ++i) pixels[i] = given[i % given.size()];
  const std::string png =
      encode_png(reinterpret_cast<const std::uint8_t*>(pixels.data()), static_cast<Index>(width), static_cast<Index>(height));
  const auto chunks = chunks_of(png);
  const std::string& header = chunks.at("IHDR");
  require(header.size() == 13 && big_endian(header, 0) == width && big_endian(header, 4) == height, "the size in the header");
  require(header.substr(8) == std::string_view("\x08\x02\0\0\0", 5), "8-bit RGB without interlacing");
  const std::string& packed = chunks.at("IDAT");
  std::string raw((3 * width + 1) * height, '\0');
  uLongf length = raw.size();
  const int result =
      uncompress(reinterpret_cast<Bytef*>(raw.data()), &length, reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  require(result == Z_OK && length == raw.size(), "the data unpacks to all rows");
  unfilter(raw, 3 * width);
  for (std::size_t row = 0; row < height; ++row)
    require(raw.compare(row * (3 * width + 1) + 1, 3 * width, pixels, row * 3 * width, 3 * width) == 0, "the pixels come back");
  return 0;
}
