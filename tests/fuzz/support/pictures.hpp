#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/render/picture.hpp"
#include "fuzz/support/check.hpp"
#include "fuzz/support/draws.hpp"

namespace attn::fuzz {

/// A small matrix with labels and options, drawn from an input.
struct DrawnPicture {
  PictureSpec spec;
  std::vector<double> values;

  DrawnPicture(Draws& draws, Index most) {
    const Index rows = draws.between(1, most), columns = draws.between(1, most);
    spec.version = "0.0.0";
    spec.layers.emplace_back();
    PictureLayer& layer = spec.layers.back();
    layer.name = "weights";
    layer.shape = {rows, columns};
    options(draws);
    const std::int64_t kind = draws.between(0, 3);
    for (Index i = 0; i < rows * columns; ++i) {
      // Shares of 1, numbers of any size, and what is no number.
      const double value =
          kind == 0 ? draws.byte() / 255.0 : (kind == 1 ? draws.bits<float>() : static_cast<double>(draws.bits<std::int8_t>()));
      values.push_back(kind == 3 ? 0.25 : value);
    }
    spec.options.title = draws.until('\xfe');
    for (Index i = 0; i < rows; ++i) layer.labels.query_tokens.push_back(draws.until('\xfe'));
    if (draws.flag())
      for (Index i = 0; i < columns; ++i) layer.labels.key_tokens.push_back(draws.until('\xfe'));
  }

  /// The bytes of the picture; empty when it was refused, which must be orderly.
  std::string drawn(std::string_view format) const {
    Sink sink;
    const Shape& shape = spec.layers.front().shape;
    try {
      const std::unique_ptr<Picture> picture = make_picture(format, spec, sink, MemoryBudget(std::size_t{256} << 20));
      const RowBlock block{0, shape[0], shape[1], DType::f64, values.data(), shape[1]};
      std::string encoded;
      picture->encode(block, encoded);
      picture->append(block, encoded);
      picture->finish();
      for (const std::string& note : picture->notes())
        require(is_printable(note), "a note that cannot be printed: " + printable(note));
    } catch (const Error& error) {
      require_orderly(error, {ErrorKind::usage, ErrorKind::mismatch, ErrorKind::memory});
      return {};
    }
    require(!sink.text.empty(), "an empty picture");
    return sink.text;
  }

 private:
  class Sink : public ByteSink {
   public:
    using ByteSink::write;
    void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
    std::string text;
  };

  void options(Draws& draws) {
    PictureOptions& o = spec.options;
    const unsigned bits = draws.byte();
    o.color_scale = static_cast<ColorScale>(bits % 3);
    o.annotate = static_cast<Annotate>(bits / 3 % 3);
    o.labels = static_cast<LabelMode>(bits / 9 % 3);
    o.theme = (bits & 1) != 0 ? Theme::dark : Theme::light;
    const unsigned more = draws.byte();
    o.prettify = (more & 1) != 0;
    o.terminal_color = static_cast<TerminalColor>((more >> 1) % 3);
    if ((more & 8) != 0) o.vmax = 1;
    if ((more & 16) != 0) o.top_k = 2;
    if ((more & 32) != 0) o.center = 0;
    o.digits = static_cast<int>(more >> 6) + 1;
    o.terminal_columns = static_cast<int>(draws.between(20, 120));
  }
};

}  // namespace attn::fuzz
