// A small matrix with any labels and title as SVG: well-formed XML, without any character that XML forbids, and without
// scripts or references to anything outside.
#include "fuzz/support/pictures.hpp"
#include "fuzz/support/well_formed.hpp"

using namespace attn;
using namespace attn::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const DrawnPicture picture(draws, 5);
  const std::string svg = picture.drawn("svg");
  if (svg.empty()) return 0;
  require(is_utf8(svg), "not UTF-8");
  WellFormed xml(svg);
  require(xml.fault().empty(), xml.fault());
  for (const auto& [name, value] : xml.attributes()) {
    require(!name.starts_with("on"), "an attribute that runs a script");
    const bool link = name == "href" || name == "xlink:href" || name == "src";
    require(!link || value.starts_with('#') || value.starts_with("data:image/"), "a reference to something outside: " + value);
  }
  for (const std::string& element : xml.elements())
    require(element != "script" && element != "foreignObject", "an element that runs a script");
  return 0;
}
