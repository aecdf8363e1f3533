// A few whole figures, pixel by pixel. They were looked at when they were made; fonts are those that pictures pin.
// After an intended change: ATTN_WRITE_GOLDEN=1 unit_render --gtest_filter='GoldenPicture.*', and look at them again.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "picture_support.hpp"

namespace attn {
namespace {

using test::Matrix;
using test::Png;
using test::read_png;
using test::spec_of;

void expect_golden(const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(ATTN_SOURCE_DIR) / "tests/golden/pictures" / (name + ".png");
  if (std::getenv("ATTN_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << bytes;
  std::ifstream stream(path, std::ios::binary);
  ASSERT_TRUE(stream) << path;
  const Png want = read_png(std::string(std::istreambuf_iterator<char>(stream), {})), got = read_png(bytes);
  ASSERT_EQ(got.width, want.width);
  ASSERT_EQ(got.height, want.height);
  Index different = 0;
  for (Index y = 0; y < want.height; ++y)
    for (Index x = 0; x < want.width; ++x) different += got.at(x, y) == want.at(x, y) ? 0 : 1;
  const std::filesystem::path drawn = std::filesystem::temp_directory_path() / ("attn-" + name + ".png");
  if (different > 0) std::ofstream(drawn, std::ios::binary) << bytes;
  EXPECT_EQ(different, 0) << "see " << drawn;
}

PictureSpec small_spec(const Shape& shape) {
  PictureSpec spec = spec_of(shape);
  spec.options.dpi = 96;
  return spec;
}

TEST(GoldenPicture, CausalSentence) {
  const test::CausalVisibility causal(4);
  PictureSpec spec = small_spec({4, 4});
  spec.layers[0].labels.query_tokens = spec.layers[0].labels.key_tokens = {"The", "cat", "is", "cute"};
  spec.layers[0].visibility = &causal;
  spec.options.title = "The cat is cute";
  expect_golden("causal", test::render("png", spec,
                                       {4,
                                        4,
                                        {1, 0, 0, 0, 0.377541, 0.622459, 0, 0, 0.274069, 0.274069, 0.451863, 0, 0.215113,
                                         0.215113, 0.215113, 0.354661}}));
}

TEST(GoldenPicture, ChineseScoresOnDark) {
  PictureSpec spec = small_spec({5, 5});
  spec.layers[0].labels.query_tokens = spec.layers[0].labels.key_tokens = {"這", "隻", "貓", "很", "可愛"};
  spec.layers[0].kind = "scores";
  spec.options.theme = Theme::dark;
  expect_golden("chinese", test::render("png", spec, Matrix::of(5, 5, [](Index i, Index j) {
                                          return static_cast<double>((i * 7 + j * 3) % 11 - 5) / 2;
                                        })));
}

TEST(GoldenPicture, HeadsWithSlantedLabels) {
  PictureSpec spec = small_spec({4, 4, 5});
  spec.layers[0].labels = {{"les", "chats", "très", "mignons"}, {"the extremely", "cute", "cats", " over", "there\n"}};
  spec.layers[0].heads = {0, 3, 7, 11};
  spec.options.colormap = "magma";
  expect_golden("heads", test::render("png", spec, Matrix::of(16, 5, [](Index i, Index j) {
                                        return static_cast<double>((i * 5 + j * j) % 9) / 9;
                                      })));
}

TEST(GoldenPicture, StatesAndClampedColors) {
  const test::CausalVisibility causal(6, 3);
  PictureSpec spec = small_spec({6, 6});
  spec.layers[0].visibility = &causal;
  spec.options.vmin = 0.1;
  spec.options.vmax = 0.5;
  spec.options.color_scale = ColorScale::log;
  Matrix matrix =
      Matrix::of(6, 6, [](Index i, Index j) { return static_cast<double>(1 + (i + j) % 3) / static_cast<double>(2 * i + 2); });
  matrix.values[31] = std::nan("");
  expect_golden("states", test::render("png", spec, matrix));
}

TEST(GoldenPicture, PooledRow) {
  const PictureSpec spec = small_spec({1, 5000});
  expect_golden("row", test::render("png", spec, Matrix::of(1, 5000, [](Index, Index j) {
                                      return j % 500 == 0 ? 1.0 : static_cast<double>(j % 50) / 100;
                                    })));
}

TEST(GoldenPicture, ManyTokensOnSmallCells) {
  const test::CausalVisibility causal(80);
  PictureSpec spec = small_spec({80, 80});
  for (int i = 0; i < 80; ++i) spec.layers[0].labels.query_tokens.push_back("token " + std::to_string(i));
  spec.layers[0].labels.key_tokens = spec.layers[0].labels.query_tokens;
  spec.layers[0].visibility = &causal;
  spec.options.width_pixels = 400;
  expect_golden("tokens", test::render("png", spec, Matrix::of(80, 80, [](Index i, Index j) {
                                         return j > i ? 0.0 : 1.0 / (1 + static_cast<double>(i - j));
                                       })));
}

}  // namespace
}  // namespace attn
