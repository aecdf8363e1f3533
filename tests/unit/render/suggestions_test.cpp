#include <gtest/gtest.h>

#include "attn/base/error.hpp"
#include "attn/render/picture.hpp"

namespace attn {
namespace {

class NoSink : public ByteSink {
 public:
  void write(const void*, std::size_t) override {}
};

std::string hint_of(std::string_view format, const std::string& colormap) {
  NoSink sink;
  PictureSpec spec;
  PictureLayer layer;
  layer.shape = {1, 1};
  spec.layers = {layer};
  spec.options.colormap = colormap;
  try {
    const auto picture = make_picture(format, spec, sink, MemoryBudget());
    RowBlock row;
    const double weight = 1;
    row.count = row.columns = row.stride = 1;
    row.dtype = DType::f64;
    row.data = &weight;
    std::string encoded;
    picture->encode(row, encoded);
    picture->append(row, encoded);
    picture->finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.hint();
  }
  return "nothing was thrown";
}

TEST(Suggestions, FormatsOfPictures) {
  EXPECT_EQ(hint_of("pgn", "viridis"), "did you mean 'png'?");
  EXPECT_EQ(hint_of("htlm", "viridis"), "did you mean 'html'?");
  EXPECT_EQ(hint_of("postscript", "viridis"), "");
}

TEST(Suggestions, Colormaps) {
  EXPECT_EQ(hint_of("svg", "virdis"), "did you mean 'viridis'?");
  EXPECT_EQ(hint_of("svg", "rdbu"), "did you mean 'RdBu'?");
  EXPECT_EQ(hint_of("svg", "viridis"), "nothing was thrown");
}

}  // namespace
}  // namespace attn
