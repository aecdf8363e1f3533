#include "render/fonts.hpp"

#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <set>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/label_text.hpp"
#include "render/missing_glyphs.hpp"

namespace attn {
inline namespace v1 {
namespace {

template <typename T, void (*kFree)(T*)>
struct Free {
  void operator()(T* thing) const { kFree(thing); }
};
using Description = std::unique_ptr<PangoFontDescription, Free<PangoFontDescription, pango_font_description_free>>;
using FontOptions = std::unique_ptr<cairo_font_options_t, Free<cairo_font_options_t, cairo_font_options_destroy>>;
struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
using FontMap = std::unique_ptr<PangoFontMap, Unref>;
using Context = std::unique_ptr<PangoContext, Unref>;

constexpr const char* kLatinFont = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr const char* kFamilies = "DejaVu Sans,Noto Sans CJK SC,sans-serif";

/// Only the pinned files, found through fontconfig's caches: reading them anew costs more than drawing the picture.
constexpr const char* kPinned =
    "<fontconfig>"
    "<dir>/usr/share/fonts/truetype/dejavu</dir>"
    "<dir>/usr/share/fonts/opentype/noto</dir>"
    "<cachedir>/var/cache/fontconfig</cachedir>"
    "<selectfont><rejectfont><glob>*</glob></rejectfont><acceptfont>"
    "<glob>*/DejaVuSans.ttf</glob><glob>*/DejaVuSans-Bold.ttf</glob>"
    "<glob>*/NotoSansCJK-Regular.ttc</glob><glob>*/NotoSansCJK-Bold.ttc</glob>"
    "</acceptfont></selectfont>"
    "</fontconfig>";

FcConfig* load_pinned_config() {
  std::error_code error;
  if (!std::filesystem::exists(kLatinFont, error)) return nullptr;
  FcConfig* config = FcConfigCreate();
  if (config == nullptr || !FcConfigParseAndLoadFromMemory(config, reinterpret_cast<const FcChar8*>(kPinned), FcTrue) ||
      !FcConfigBuildFonts(config))
    return nullptr;
  // Pango would otherwise read the configuration of the system for its default, which is not used.
  FcConfigSetCurrent(config);
  return config;
}

/// Read once; null where the Latin font is not installed. Given back by the system when the process ends.
FcConfig* pinned_config() {
  static FcConfig* const kConfig = load_pinned_config();
  return kConfig;
}

/// Read once, when a picture needs other fonts; it stays for the next picture.
FcConfig* system_config() {
  static FcConfig* const kConfig = FcInitLoadConfigAndFonts();
  return kConfig;
}

/// A font map with its context.
struct Shaper {
  FontMap map;
  Context context;
  std::unique_ptr<Shaper> next;  // of those that are not in use

  explicit Shaper(FcConfig* config) {
    map.reset(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT));
    if (!map) fail(ErrorKind::internal, "this cairo was built without FreeType fonts");
    if (config != nullptr) pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(map.get()), config);
    context.reset(pango_font_map_create_context(map.get()));
    // Unhinted: widths that do not depend on where the text stands, and the same in all formats.
    const FontOptions options(cairo_font_options_create());
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context.get(), options.get());
    pango_context_set_round_glyph_positions(context.get(), FALSE);
    pango_context_set_language(context.get(), pango_language_from_string("en"));
  }

  std::vector<std::string> families() const {
    PangoFontFamily** list = nullptr;
    int count = 0;
    pango_font_map_list_families(map.get(), &list, &count);
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) names.emplace_back(pango_font_family_get_name(list[i]));
    g_free(list);
    return names;
  }
};

/// Keeps the shapers that no picture uses: finding and opening fonts takes longer than drawing a small picture. A shaper
/// serves one picture at a time, on whatever threads that is.
class ShaperPool {
 public:
  explicit ShaperPool(FcConfig* (*config)()) : config_(config) {}

  struct GiveBack {
    ShaperPool* pool = nullptr;
    void operator()(Shaper* shaper) const { pool->give_back(std::unique_ptr<Shaper>(shaper)); }
  };
  using Taken = std::unique_ptr<Shaper, GiveBack>;

  Taken take() {
    std::unique_ptr<Shaper> shaper;
    {
      const std::lock_guard lock(mutex_);
      shaper = std::move(idle_);
      if (shaper) idle_ = std::move(shaper->next);
    }
    if (!shaper) shaper = std::make_unique<Shaper>(config_());
    return {shaper.release(), {this}};
  }

 private:
  void give_back(std::unique_ptr<Shaper> shaper) {
    const std::lock_guard lock(mutex_);
    shaper->next = std::move(idle_);
    idle_ = std::move(shaper);
  }

  FcConfig* (*config_)();
  std::mutex mutex_;
  std::unique_ptr<Shaper> idle_;  // a list, so that giving back needs no memory
};

/// Like the configurations, these end with the process.
ShaperPool& pinned_shapers() {
  static ShaperPool& pool = *new ShaperPool(pinned_config);
  return pool;
}
ShaperPool& system_shapers() {
  static ShaperPool& pool = *new ShaperPool(system_config);
  return pool;
}

std::set<char32_t> unknown_characters(PangoLayout* layout) {
  std::set<char32_t> unknown;
  std::unique_ptr<PangoLayoutIter, Free<PangoLayoutIter, pango_layout_iter_free>> iter(pango_layout_get_iter(layout));
  do {
    const PangoLayoutRun* run = pango_layout_iter_get_run_readonly(iter.get());
    for (int i = 0; run != nullptr && i < run->glyphs->num_glyphs; ++i) {
      const PangoGlyph glyph = run->glyphs->glyphs[i].glyph;
      if ((glyph & PANGO_GLYPH_UNKNOWN_FLAG) != 0 && glyph != PANGO_GLYPH_INVALID_INPUT)
        unknown.insert(glyph & ~PANGO_GLYPH_UNKNOWN_FLAG);
    }
  } while (pango_layout_iter_next_run(iter.get()));
  return unknown;
}

}  // namespace

struct Fonts::Impl {
  std::string families;
  ShaperPool::Taken first;     // the pinned fonts
  ShaperPool::Taken fallback;  // the fonts of the system, once they are needed
  std::set<char32_t> missing;

  Text shape_with(const Shaper& shaper, const std::string& utf8, double size, Weight weight, double max_width) const {
    Text text{std::shared_ptr<PangoLayout>(pango_layout_new(shaper.context.get()), Unref()), 0, 0, size};
    PangoLayout* layout = text.layout.get();
    const Description description(pango_font_description_new());
    pango_font_description_set_family(description.get(), families.c_str());
    pango_font_description_set_weight(description.get(), weight == Weight::bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_absolute_size(description.get(), size * PANGO_SCALE);
    pango_layout_set_font_description(layout, description.get());
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_text(layout, utf8.data(), static_cast<int>(utf8.size()));
    int width = 0;
    pango_layout_get_size(layout, &width, nullptr);
    if (max_width > 0 && width > max_width * PANGO_SCALE) {
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_width(layout, static_cast<int>(max_width * PANGO_SCALE));
      // Pango widens the ellipsis until the line fills its width: where the ink ends is where the text ends.
      PangoRectangle ink, logical;
      pango_layout_get_extents(layout, &ink, &logical);
      width = std::min(logical.width, ink.x + ink.width + PANGO_SCALE);
    }
    text.width = static_cast<double>(width) / PANGO_SCALE;
    text.baseline = static_cast<double>(pango_layout_get_baseline(layout)) / PANGO_SCALE;
    return text;
  }

  const Shaper& system_fonts() {
    if (!fallback) fallback = system_shapers().take();
    return *fallback;
  }
};

Fonts::Fonts(const std::string& family) : impl_(std::make_unique<Impl>()) {
  impl_->families = kFamilies;
  if (family.empty()) {
    if (pinned_config() != nullptr) impl_->first = pinned_shapers().take();
    return;
  }
  const std::vector<std::string> installed = impl_->system_fonts().families();
  for (const std::string& name : installed)
    if (g_ascii_strcasecmp(name.c_str(), family.c_str()) == 0) {
      impl_->families = name + "," + kFamilies;
      return;
    }
  const std::string meant = did_you_mean(family, installed);
  fail_with_hint(ErrorKind::usage, meant.empty() ? "fc-list : family shows the families there are" : meant,
                 "--font: no font family '", printable(family), "' is installed");
}

Fonts::~Fonts() = default;

Text Fonts::shape(const std::string& utf8, double size, Weight weight, double max_width) {
  if (impl_->first) {
    Text text = impl_->shape_with(*impl_->first, utf8, size, weight, max_width);
    if (pango_layout_get_unknown_glyphs_count(text.layout.get()) == 0) return text;
  }
  Text text = impl_->shape_with(impl_->system_fonts(), utf8, size, weight, max_width);
  if (pango_layout_get_unknown_glyphs_count(text.layout.get()) > 0) impl_->missing.merge(unknown_characters(text.layout.get()));
  return text;
}

std::vector<std::string> Fonts::notes() const { return missing_glyph_notes(impl_->missing); }

double clear_middle(const Text& text) {
  const std::string_view words = pango_layout_get_text(text.layout.get());
  const double middle = text.width / 2;
  double nearest = 1e9;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(words, at);
    PangoRectangle place;
    pango_layout_index_to_pos(text.layout.get(), static_cast<int>(begin), &place);
    const double left = static_cast<double>(place.x) / PANGO_SCALE, right = left + static_cast<double>(place.width) / PANGO_SCALE;
    // Between two characters, or above a point: nothing is drawn there at half the height of the digits.
    const double gap = c == '.'                                             ? std::clamp(middle, left, right)
                       : std::abs(left - middle) < std::abs(right - middle) ? left
                                                                            : right;
    if (std::abs(middle - gap) < std::abs(nearest)) nearest = middle - gap;
  }
  return std::abs(nearest) <= text.size / 4 ? nearest : 0;
}

double clear_width(const Text& text) {
  PangoRectangle ink;
  pango_layout_get_extents(text.layout.get(), &ink, nullptr);
  const double left = static_cast<double>(ink.x) / PANGO_SCALE, right = left + static_cast<double>(ink.width) / PANGO_SCALE;
  const double middle = text.width / 2 - clear_middle(text);
  return 2 * std::max(middle - left, right - middle);
}

void draw_text(cairo_t* cairo, const Text& text, double x, double y, Anchor anchor, double angle) {
  cairo_save(cairo);
  cairo_translate(cairo, x, y);
  if (angle != 0) cairo_rotate(cairo, -angle * G_PI / 180);
  const double left = anchor == Anchor::left ? 0 : anchor == Anchor::center ? -text.width / 2 : -text.width;
  cairo_move_to(cairo, left, kCapHeight / 2 * text.size - text.baseline);
  pango_cairo_show_layout(cairo, text.layout.get());
  cairo_restore(cairo);
}

}  // namespace v1
}  // namespace attn
