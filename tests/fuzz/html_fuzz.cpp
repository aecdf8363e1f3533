// A small matrix with any labels and title as a page. The page is the fixed one but for the escaped title and for blocks of
// data: those have no markup inside, and the description is JSON with the labels as they were given.
#include <functional>
#include <nlohmann/json.hpp>

#include "fuzz/support/pictures.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

/// What stands between two texts, which is cut off the front together with them.
std::string_view take(std::string_view& page, std::string_view before, std::string_view after) {
  require(page.starts_with(before), "the page is not as it should be before " + printable(page.substr(0, 60)));
  page.remove_prefix(before.size());
  const std::size_t end = page.find(after);
  require(end != std::string_view::npos, "a part of the page is not closed");
  const std::string_view inside = page.substr(0, end);
  page.remove_prefix(end);
  return inside;
}

/// The fixed parts of the page, from one with a title and labels of plain letters.
struct Skeleton {
  std::string before_title, before_heading, before_data, after_data;

  Skeleton(std::string_view page, std::string_view title) {
    std::size_t at = page.find(title);
    before_title = page.substr(0, at);
    std::size_t next = page.find(title, at + title.size());
    before_heading = page.substr(at + title.size(), next - at - title.size());
    at = page.find("<script type=\"", next);
    before_data = page.substr(next + title.size(), at - next - title.size());
    next = page.find("</script>\n", page.find("id=\"facts\"")) + 10;
    after_data = page.substr(next);
  }
};

const Skeleton& skeleton(Theme theme) {
  static const auto make = [](Theme of) {
    const std::string seed(64, '\0');
    Draws draws(reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size());
    DrawnPicture plain(draws, 2);
    plain.spec.options.title = "QQQQQQQQ";
    plain.spec.options.theme = of;
    return Skeleton(plain.drawn("html"), "QQQQQQQQ");
  };
  static const Skeleton kLight = make(Theme::light), kDark = make(Theme::dark);
  return theme == Theme::dark ? kDark : kLight;
}

std::string unescaped(std::string_view html) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
  std::string text;
  while (!html.empty()) {
    require(html[0] != '<' && html[0] != '>' && html[0] != '"' && html[0] != '\'', "markup in a text");
    std::size_t length = 1;
    char c = html[0];
    for (const auto& [entity, meant] : kEntities)
      if (html.starts_with(entity)) c = meant, length = entity.size();
    require(html[0] != '&' || length > 1, "an ampersand that begins no entity");
    text += c;
    html.remove_prefix(length);
  }
  return text;
}

void check_description(std::string_view json, const PictureLayer& layer) {
  const auto description = nlohmann::json::parse(json, nullptr, false);
  require(!description.is_discarded(), "the description is not JSON");
  // Wherever the page keeps tokens, they are those that were given.
  std::size_t lists = 0;
  for (const auto* tokens : {&layer.labels.query_tokens, &layer.labels.key_tokens}) {
    if (tokens->empty()) continue;
    nlohmann::json expected = nlohmann::json::array();
    for (const std::string& token : *tokens) expected.push_back(to_utf8(token));
    const std::function<bool(const nlohmann::json&)> holds = [&](const nlohmann::json& value) {
      if (value == expected) return true;
      if (!value.is_structured()) return false;
      for (const auto& inner : value)
        if (holds(inner)) return true;
      return false;
    };
    lists += holds(description) ? 0 : 1;
  }
  require(lists == 0, "the page has other tokens than were given");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const DrawnPicture picture(draws, 6);
  const std::string whole = picture.drawn("html");
  if (whole.empty()) return 0;
  const Skeleton& fixed = skeleton(picture.spec.options.theme);
  std::string_view page = whole;
  const std::string title = unescaped(take(page, fixed.before_title, "</title>"));
  const std::string_view heading = take(page, fixed.before_heading, "</bdi>");
  require(unescaped(heading) == title, "two titles");
  require(is_utf8(title), "a title that is not UTF-8");
  take(page, fixed.before_data, "<script type=\"");
  while (!page.starts_with(fixed.after_data)) {
    const std::string_view tag = take(page, "<script type=\"", ">");
    require(tag.starts_with("application/"), "a block that a browser would run");
    const std::string_view inside = take(page, ">", "</script>\n");
    page.remove_prefix(10);
    for (const char c : inside)
      require(c != '<' && c != '>' && c != '&' && static_cast<unsigned char>(c) >= 0x20, "markup in a block of data");
    if (tag.find("\"description\"") != std::string_view::npos) check_description(inside, picture.spec.layers.front());
  }
  require(page == fixed.after_data, "the end of the page");
  return 0;
}
