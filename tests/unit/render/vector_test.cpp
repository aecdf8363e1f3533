#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "picture_support.hpp"
#include "render/layout.hpp"
#include "render/pdf_objects.hpp"

namespace attn {
namespace {

using test::Matrix;
using test::Png;
using test::render;
using test::spec_of;

/// Runs a tool on the bytes as a file and returns what it prints; its errors are part of that.
std::string run_on(const std::string& command, const std::string& bytes, const std::string& arguments = "") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("attn-vector-test-" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary) << bytes;
  std::string output;
  FILE* pipe = popen((command + " " + path.string() + " " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t count = 0; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), count);
  const int status = pclose(pipe);
  std::filesystem::remove(path);
  return status == 0 ? output : "failed: " + output;
}

Matrix ramp(Index n, Index m) {
  return Matrix::of(n, m, [&](Index i, Index j) { return static_cast<double>(i * m + j + 1) / static_cast<double>(n * m); });
}

PictureSpec cat_spec() {
  PictureSpec spec = spec_of(Shape{4, 4});
  spec.layers[0].labels.query_tokens = spec.layers[0].labels.key_tokens = {"The", "cat", "是", "cute"};
  spec.options.title = "A <cat> & \"dog\"";
  return spec;
}

TEST(Svg, IsWellFormedAndTellsItsWords) {
  const std::string svg = render("svg", cat_spec(), ramp(4, 4));
  EXPECT_EQ(run_on("xmllint --noout", svg), "");
  EXPECT_NE(svg.find("<desc>A &lt;cat&gt; &amp; &quot;dog&quot;\nQuery: The cat 是 cute\nKey: The cat 是 cute\n"),
            std::string::npos);
  EXPECT_NE(svg.find("0 to 1 linear viridis"), std::string::npos);
}

TEST(Svg, HostileTokensStayText) {
  const std::vector<std::string> tokens = {"</desc><script>alert(1)</script>",
                                           "\"><img src=x onerror=alert(1)>",
                                           "&lt;&amp;",
                                           std::string("\b\0", 2) + "\uFFFE",
                                           "]]>",
                                           "\xff\x1b[2J"};
  PictureSpec spec = spec_of(Shape{6, 6});
  spec.layers[0].labels = {tokens, tokens};
  const std::string svg = render("svg", spec, ramp(6, 6));
  EXPECT_EQ(run_on("xmllint --noout", svg), "");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<img"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(svg.find("&amp;lt;&amp;amp;"), std::string::npos);
}

TEST(Svg, RefersToNothingOutside) {
  for (const Index n : {4, 120}) {
    const std::string svg = render("svg", spec_of(Shape{n, n}), ramp(n, n));
    for (std::size_t at = svg.find("href=\""); at != std::string::npos; at = svg.find("href=\"", at + 1)) {
      const std::string target = svg.substr(at + 6, 5);
      EXPECT_TRUE(target[0] == '#' || target == "data:") << target;
    }
    for (std::size_t at = svg.find("http"); at != std::string::npos; at = svg.find("http", at + 1))
      EXPECT_EQ(svg.substr(at, 18), "http://www.w3.org/");
  }
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Svg, ManyCellsBecomeOneImage) {
  PictureSpec spec = spec_of(Shape{100, 100});
  spec.options.annotate = Annotate::never;
  EXPECT_EQ(count_of(render("svg", spec, ramp(100, 100)), "<image"), 0u);
  spec = spec_of(Shape{101, 100});
  const std::string svg = render("svg", spec, ramp(101, 100));
  EXPECT_EQ(count_of(svg, "<image"), 1u);
  EXPECT_NE(svg.find("image-rendering:pixelated"), std::string::npos);
}

TEST(Svg, CellsHaveSharpEdges) {
  PictureSpec spec = spec_of(Shape{24, 24});
  spec.options.annotate = Annotate::never;
  const std::string svg =
      render("svg", spec, Matrix::of(24, 24, [](Index i, Index j) { return static_cast<double>((i + j) % 2); }));
  EXPECT_GE(count_of(svg, "<path shape-rendering=\"crispEdges\" style=\" stroke:none;"), 24u * 24u);
  EXPECT_EQ(run_on("xmllint --noout", svg), "");
}

/// The pixels of the PPM that pdftoppm paints.
Png ppm_of(const std::string& pdf, const std::string& arguments) {
  const std::string ppm = run_on("pdftoppm " + arguments, pdf);
  Png picture;
  int width = 0, height = 0, begin = 0;
  if (sscanf(ppm.c_str(), "P6 %d %d 255%n", &width, &height, &begin) == 2) {
    picture.width = width;
    picture.height = height;
    picture.rgb.assign(ppm.begin() + begin + 1, ppm.end());
  }
  return picture;
}

TEST(Pdf, NoPaperShinesThroughBetweenCells) {
  PictureSpec spec = spec_of(Shape{24, 24});
  spec.options.annotate = Annotate::never;
  spec.options.vmax = 1;
  const std::string pdf = render("pdf", spec, Matrix::of(24, 24, [](Index i, Index j) { return (i + j) % 2 == 0 ? 0 : 0.5; }));
  Fonts fonts("");
  const Layout layout = plan_layout(figure_spec(spec), 192 / 72.0, fonts);
  for (const int dpi : {72, 96, 131}) {
    const Png picture = ppm_of(pdf, "-r " + std::to_string(dpi));
    ASSERT_GT(picture.width, 0);
    const auto pixel = [&](Index place) { return place * dpi / 192; };
    const PanelPlace& panel = layout.panels[0];
    // Smoothed edges mix the colours of neighbours, whose red is 68 and 33; the paper's is 255.
    for (Index y = pixel(panel.y) + 2; y < pixel(panel.y + layout.cells.panel_height()) - 2; ++y)
      for (Index x = pixel(panel.x) + 2; x < pixel(panel.x + layout.cells.panel_width()) - 2; ++x)
        ASSERT_LE(picture.at(x, y).red, 70) << dpi << " dpi at " << x << "," << y;
  }
}

TEST(Svg, SameBytesWhateverWasDrawnBefore) {
  const test::CausalVisibility causal(150);
  PictureSpec spec = spec_of(Shape{150, 150});
  spec.layers[0].visibility = &causal;
  const std::string first = render("svg", spec, ramp(150, 150));
  render("svg", cat_spec(), ramp(4, 4));
  render("png", cat_spec(), ramp(4, 4));
  EXPECT_EQ(render("svg", spec, ramp(150, 150)), first);
}

TEST(Pdf, TextCanBeSelected) {
  const std::string text = run_on("pdftotext", render("pdf", cat_spec(), ramp(4, 4)), "-");
  for (const std::string word :
       {"The", "cat", "是", "cute", "Query", "Key", "attention weight", "A <cat> & \"dog\"", "0.06", "1.00"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in:\n" << text;
}

TEST(Pdf, EveryObjectIsWhereTheTableSays) {
  const std::string pdf = render("pdf", cat_spec(), ramp(4, 4));
  EXPECT_TRUE(pdf_objects_are_whole(pdf));
  // What is left out or moved, as an object that could not be written, is noticed whichever it is.
  std::size_t objects = 0;
  for (std::size_t at = pdf.find(" 0 obj"); at != std::string::npos; at = pdf.find(" 0 obj", at + 1), ++objects) {
    std::string other = pdf;
    other.replace(at, 6, " 0 OBJ");
    EXPECT_FALSE(pdf_objects_are_whole(other)) << at;
  }
  EXPECT_GE(objects, 10u);
  EXPECT_FALSE(pdf_objects_are_whole(pdf.substr(0, 9) + pdf.substr(10)));
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}, pdf.size() / 2, pdf.size() - 20})
    EXPECT_FALSE(pdf_objects_are_whole(pdf.substr(0, size)));
}

TEST(Pdf, SameBytesTwiceWithoutTheTime) {
  const std::string first = render("pdf", cat_spec(), ramp(4, 4));
  render("svg", cat_spec(), ramp(4, 4));
  EXPECT_EQ(render("pdf", cat_spec(), ramp(4, 4)), first);
  const std::string information = run_on("pdfinfo", first);
  EXPECT_NE(information.find("2000"), std::string::npos) << information;
  EXPECT_NE(information.find("A <cat> & \"dog\""), std::string::npos);
}

TEST(Pdf, PageHasTheSizeOfThePictureInPoints) {
  PictureSpec spec = cat_spec();
  spec.options.width_pixels = 768;  // at 192 pixels to the inch
  const std::string information = run_on("pdfinfo", render("pdf", spec, ramp(4, 4)));
  EXPECT_NE(information.find("Page size:       288 x"), std::string::npos) << information;
}

TEST(Vector, FullDisksEndInTheSinksOwnError) {
  class FullSink : public ByteSink {
   public:
    void write(const void*, std::size_t) override { fail(ErrorKind::output, "no space left"); }
  };
  for (const std::string format : {"svg", "pdf", "png", "txt"}) {
    FullSink sink;
    const PictureSpec spec = spec_of(Shape{2, 2});
    const std::unique_ptr<Picture> picture = make_picture(format, spec, sink, MemoryBudget());
    const std::vector<double> values = {0, 1, 2, 3};
    const RowBlock block{0, 2, 2, DType::f64, values.data(), 2};
    std::string encoded;
    picture->encode(block, encoded);
    picture->append(block, encoded);
    const test::Failure failure = test::failure_of([&] { picture->finish(); });
    EXPECT_EQ(failure.kind, ErrorKind::output) << format;
    EXPECT_EQ(failure.message, "no space left") << format;
  }
}

}  // namespace
}  // namespace attn
