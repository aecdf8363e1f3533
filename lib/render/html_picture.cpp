#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/color_range.hpp"
#include "render/html_description.hpp"
#include "render/html_page.hpp"
#include "render/html_plan.hpp"
#include "render/html_rows.hpp"
#include "render/renderer.hpp"

namespace attn {
inline namespace v1 {
namespace {

std::string page_title(const PictureSpec& spec) {
  if (!spec.options.title.empty()) return spec.options.title;
  if (spec.layers.size() > 1) return "Attention";
  const std::string kind = spec.layers.empty() ? "weights" : spec.layers.front().kind;
  if (kind == "weights" || kind == "scores") return "Attention " + kind;
  if (kind == "difference") return "Difference";
  return kind == "value" ? "Values" : kind;
}

/// Rows leave for the page as they come: each is packed alone, so nothing waits for the end but the range of all values.
class HtmlPicture : public Picture {
 public:
  HtmlPicture(const PictureSpec& spec, ByteSink& sink) : spec_(spec), plan_(plan_html(spec)), writer_(attention_page(), sink) {
    check_color_options(spec.options);
  }

  void encode(const RowBlock& rows, std::string& encoded) const override;
  void append(const RowBlock& rows, std::string_view encoded) override;
  void finish() override;

 private:
  void begin();

  PictureSpec spec_;
  HtmlPlan plan_;
  PageWriter writer_;
  HtmlFacts facts_;
  bool begun_ = false;
};

/// What a block says of its numbers, then its rows; a row that opens or closes a plane brings the plane's tags.
void HtmlPicture::encode(const RowBlock& rows, std::string& encoded) const {
  if (rows.count == 0) return;
  const HtmlLayer& layer = plan_.layer_of(rows.first);
  const auto layer_number = static_cast<std::size_t>(&layer - plan_.layers.data());
  const Visibility* visibility = spec_.layers[layer_number].visibility;
  const std::size_t facts_at = encoded.size();
  encoded.resize(facts_at + sizeof(HtmlFacts));
  HtmlFacts facts;
  HtmlRowPacker packer(plan_.packing, layer);
  std::vector<unsigned char> bytes;
  std::vector<Range> allowed;
  for (Index r = 0; r < rows.count; ++r) {
    const Index row = rows.first + r - layer.first_row;
    if (visibility != nullptr) visibility->allowed_keys(row, allowed);
    bytes.clear();
    packer.pack(rows, r, visibility == nullptr ? nullptr : &allowed, bytes, facts);
    if (row % layer.queries == 0)
      encoded += data_block("application/octet-stream", concat("plane-", layer_number, "-", row / layer.queries));
    append_base64(encoded, bytes.data(), bytes.size());
    if ((row + 1) % layer.queries == 0) encoded += "</script>\n";
  }
  std::memcpy(encoded.data() + facts_at, &facts, sizeof(HtmlFacts));
}

void HtmlPicture::append(const RowBlock& rows, std::string_view encoded) {
  std::string own;
  if (encoded.empty() && rows.count > 0) {
    encode(rows, own);
    encoded = own;
  }
  begin();
  if (encoded.empty()) return;
  HtmlFacts facts;
  std::memcpy(&facts, encoded.data(), sizeof(HtmlFacts));
  facts_.add(facts);
  check_facts(spec_.options, facts_);
  writer_.data(encoded.substr(sizeof(HtmlFacts)));
}

void HtmlPicture::begin() {
  if (begun_) return;
  begun_ = true;
  writer_.begin(page_title(spec_), spec_.options.theme == Theme::dark ? "dark" : "");
  writer_.data(data_block("application/json", "description") + escape_json_for_script(describe_page(spec_, plan_)) +
               "</script>\n");
}

void HtmlPicture::finish() {
  begin();
  writer_.data(data_block("application/json", "facts") + escape_json_for_script(describe_facts(spec_.options, facts_)) +
               "</script>\n");
  writer_.end();
}

}  // namespace

std::unique_ptr<Picture> make_html_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget&) {
  return std::make_unique<HtmlPicture>(spec, bytes);
}

}  // namespace v1
}  // namespace attn
