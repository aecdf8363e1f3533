#include "render/fonts.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "picture_support.hpp"

namespace attn {
namespace {

const std::vector<std::string> kTexts = {"The", "貓", "Ελλάδα", "𒀀", "القطة", "0.25", ""};

std::vector<double> widths_at(double size) {
  Fonts fonts("");
  std::vector<double> widths;
  widths.reserve(kTexts.size());
  for (const std::string& text : kTexts) widths.push_back(fonts.shape(text, size).width);
  return widths;
}

TEST(Fonts, UnknownFamiliesAreRefused) {
  const test::Failure failure = test::failure_of([] { Fonts fonts("DejaVu Sand"); });
  EXPECT_EQ(failure.kind, ErrorKind::usage);
  EXPECT_NE(failure.hint.find("DejaVu Sans"), std::string::npos);
  EXPECT_NO_THROW(Fonts("dejavu sans"));
}

TEST(Fonts, MissingGlyphsNameAPackage) {
  Fonts fonts("");
  fonts.shape("cat 貓 القطة ▁", 20);
  EXPECT_TRUE(fonts.notes().empty());
  fonts.shape("\U000F1234", 20);
  ASSERT_EQ(fonts.notes().size(), 1u);
  EXPECT_NE(fonts.notes()[0].find("U+F1234"), std::string::npos);
}

TEST(Fonts, EveryPictureNotesWhatItsOwnTextLacks) {
  const std::string private_use = "\xf4\x8f\xbf\xbd";  // U+10FFFD
  for (int picture = 0; picture < 3; ++picture) {
    Fonts fonts("");
    fonts.shape("The", 12);
    EXPECT_TRUE(fonts.notes().empty()) << "picture " << picture;
    fonts.shape(private_use, 12);
    ASSERT_EQ(fonts.notes().size(), 1u) << "picture " << picture;
    EXPECT_NE(fonts.notes()[0].find("U+10FFFD"), std::string::npos) << fonts.notes()[0];
  }
}

TEST(Fonts, ShapesDoNotDependOnWhatWasShapedBefore) {
  const std::vector<double> first = widths_at(13.5);
  for (double size = 6; size < 40; size += 3) widths_at(size);
  EXPECT_EQ(widths_at(13.5), first);
}

TEST(Fonts, ThreadsShapeSideBySide) {
  const std::vector<double> alone = widths_at(12);
  std::vector<std::vector<double>> found(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(found.size());
    for (auto& widths : found)
      threads.emplace_back([&widths] {
        for (int picture = 0; picture < 20; ++picture) widths = widths_at(12);
      });
  }
  for (const auto& widths : found) EXPECT_EQ(widths, alone);
}

}  // namespace
}  // namespace attn
