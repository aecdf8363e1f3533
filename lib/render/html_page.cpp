#include "render/html_page.hpp"

#include <array>
#include <utility>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kDataPlace = "{{data}}";

int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/// A digest as a security policy writes it: 'sha256-<base64>'.
std::string policy_source(std::string_view hex) {
  std::array<unsigned char, 32> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(hex_digit(hex[2 * i]) * 16 + hex_digit(hex[2 * i + 1]));
  std::string text = "'sha256-";
  append_base64(text, digest.data(), digest.size());
  return text + "'";
}

/// Nothing may be loaded, run or sent but the style and the script that stand in the page.
std::string security_policy(const WebPage& page) {
  return "default-src 'none'; script-src " + policy_source(page.script_sha256) + "; style-src " +
         policy_source(page.style_sha256) + "; base-uri 'none'; form-action 'none'";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : to_utf8(text)) {
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    if (control || c == 0x7f)
      escaped += "\uFFFD";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '&')
      escaped += "&amp;";
    else if (c == '"')
      escaped += "&quot;";
    else if (c == '\'')
      escaped += "&#39;";
    else
      escaped += c;
  }
  return escaped;
}

std::string escape_json_for_script(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  constexpr std::string_view kSeparator = "\xe2\x80";  // before a8 or a9, of the separators of lines and paragraphs
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    const bool separates = json.substr(at, 2) == kSeparator && at + 2 < json.size();
    if (separates && (json[at + 2] == '\xa8' || json[at + 2] == '\xa9')) {
      escaped += json[at + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else if (c == '<')
      escaped += "\\u003c";
    else if (c == '>')
      escaped += "\\u003e";
    else if (c == '&')
      escaped += "\\u0026";
    else if (c == '\x7f')
      escaped += "\\u007f";
    else
      escaped += c;
  }
  return escaped;
}

void append_base64(std::string& text, const unsigned char* bytes, std::size_t count) {
  const std::size_t start = text.size();
  text.resize(start + base64_size(count), '=');
  char* out = text.data() + start;
  for (std::size_t i = 0; i < count; i += 3) {
    const std::size_t left = count - i;
    const unsigned group = static_cast<unsigned>(bytes[i]) << 16 | (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0U) |
                           (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0U);
    out[0] = kBase64[group >> 18];
    out[1] = kBase64[group >> 12 & 63];
    if (left > 1) out[2] = kBase64[group >> 6 & 63];
    if (left > 2) out[3] = kBase64[group & 63];
    out += 4;
  }
}

std::string data_block(std::string_view type, std::string_view id) {
  return concat("<script type=\"", type, "\" id=\"", id, "\">");
}

void PageWriter::write_filled(std::string_view markup, std::string_view title, std::string_view theme) {
  const std::array<std::pair<std::string_view, std::string>, 5> places{{{"{{policy}}", security_policy(*page_)},
                                                                        {"{{theme}}", std::string(theme)},
                                                                        {"{{title}}", escape_html(title)},
                                                                        {"{{style}}", std::string(page_->style)},
                                                                        {"{{script}}", std::string(page_->script)}}};
  while (!markup.empty()) {
    const std::size_t open = markup.find("{{");
    sink_->write(markup.substr(0, open));
    if (open == std::string_view::npos) return;
    markup.remove_prefix(open);
    bool filled = false;
    for (const auto& [place, text] : places) {
      if (!markup.starts_with(place)) continue;
      sink_->write(text);
      markup.remove_prefix(place.size());
      filled = true;
      break;
    }
    if (!filled) fail(ErrorKind::internal, "the page has a place that nothing fills: ", markup.substr(0, 20));
  }
}

void PageWriter::begin(std::string_view title, std::string_view theme) {
  write_filled(page_->markup.substr(0, page_->markup.find(kDataPlace)), title, theme);
}

void PageWriter::end() { write_filled(page_->markup.substr(page_->markup.find(kDataPlace) + kDataPlace.size()), "", ""); }

}  // namespace v1
}  // namespace attn
