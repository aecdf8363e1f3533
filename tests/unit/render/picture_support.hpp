#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/render/picture.hpp"
#include "render/colormap.hpp"

namespace attn::test {

/// Keeps what is written.
class TextSink : public ByteSink {
 public:
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
  std::string text;
};

/// A picture of one matrix (or of equally large ones, one below the other).
struct Matrix {
  Index rows = 0, columns = 0;
  std::vector<double> values;

  static Matrix of(Index rows, Index columns, const std::function<double(Index, Index)>& value) {
    Matrix made{rows, columns, {}};
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) made.values.push_back(value(i, j));
    return made;
  }
};

inline PictureSpec spec_of(Shape shape) {
  PictureSpec spec;
  spec.version = "0.0.0";
  spec.layers.emplace_back();
  spec.layers.back().shape = std::move(shape);
  return spec;
}

inline PictureSpec spec_of(const Matrix& matrix) { return spec_of(Shape{matrix.rows, matrix.columns}); }

/// Sends the rows in blocks of `step` and returns the bytes of the picture.
inline std::string render(const std::string& format, const PictureSpec& spec, const Matrix& matrix, Index step = 7,
                          std::vector<std::string>* notes = nullptr) {
  TextSink sink;
  const std::unique_ptr<Picture> picture = make_picture(format, spec, sink, MemoryBudget());
  for (Index first = 0; first < matrix.rows; first += step) {
    const Index count = std::min(step, matrix.rows - first);
    const RowBlock block{first, count, matrix.columns, DType::f64, matrix.values.data() + first * matrix.columns, matrix.columns};
    std::string encoded;
    picture->encode(block, encoded);
    picture->append(block, encoded);
  }
  picture->finish();
  if (notes != nullptr) *notes = picture->notes();
  return sink.text;
}

/// What a PNG says, read by the rules of its specification (8-bit RGB, filters 0 and 2 only).
struct Png {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  std::multimap<std::string, std::string> chunks;
  bool checksums_right = true;

  Rgb at(Index x, Index y) const {
    const std::uint8_t* pixel = rgb.data() + 3 * (y * width + x);
    return {pixel[0], pixel[1], pixel[2]};
  }
  bool has_text(const std::string& part) const {
    for (const auto& [type, data] : chunks)
      if (type == "iTXt" && data.find(part) != std::string::npos) return true;
    return false;
  }
};

inline std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

inline Png read_png(const std::string& bytes) {
  Png png;
  std::string packed;
  for (std::size_t at = 8; at < bytes.size();) {
    const std::uint32_t size = big_endian(bytes, at);
    const std::string type = bytes.substr(at + 4, 4), data = bytes.substr(at + 8, size);
    const std::uint32_t sum =
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at + 4), size + 4));
    png.checksums_right = png.checksums_right && sum == big_endian(bytes, at + 8 + size);
    png.chunks.emplace(type, data);
    if (type == "IDAT") packed += data;
    at += 12 + size;
  }
  const std::string header = png.chunks.find("IHDR")->second;
  png.width = big_endian(header, 0);
  png.height = big_endian(header, 4);
  const std::size_t row = 3 * static_cast<std::size_t>(png.width);
  std::vector<std::uint8_t> raw((row + 1) * static_cast<std::size_t>(png.height));
  uLongf size = raw.size();
  if (uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()) != Z_OK || size != raw.size())
    throw std::runtime_error("the IDAT chunk does not hold the pixels");
  png.rgb.resize(row * static_cast<std::size_t>(png.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(png.height); ++y) {
    const std::uint8_t filter = raw[y * (row + 1)];
    if (filter != 0 && filter != 2) throw std::runtime_error("another filter than None and Up");
    for (std::size_t i = 0; i < row; ++i) {
      const std::uint8_t above = filter == 2 && y > 0 ? png.rgb[(y - 1) * row + i] : 0;
      png.rgb[y * row + i] = static_cast<std::uint8_t>(raw[y * (row + 1) + 1 + i] + above);
    }
  }
  return png;
}

/// The kind and message of the error that `call` ends with.
struct Failure {
  ErrorKind kind = ErrorKind::internal;
  std::string message, hint;
};
inline Failure failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.kind(), error.message(), error.hint()};
  }
  return {ErrorKind::internal, "no error", ""};
}

/// Query i sees the keys up to i.
class CausalVisibility : public Visibility {
 public:
  explicit CausalVisibility(Index queries, Index empty_query = -1) : queries_(queries), empty_(empty_query) {}
  void allowed_keys(Index row, std::vector<Range>& ranges) const override {
    ranges.clear();
    if (row % queries_ != empty_) ranges.push_back({0, row % queries_ + 1});
  }

 private:
  Index queries_, empty_;
};

}  // namespace attn::test
