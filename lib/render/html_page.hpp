#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attn/base/row_sink.hpp"
#include "render/html_assets.hpp"

namespace attn {
inline namespace v1 {

/// `text` as HTML text or as a quoted attribute's value; ill-formed bytes and control characters become U+FFFD.
std::string escape_html(std::string_view text);
/// Makes JSON safe to stand in a <script>: < > &, DEL and the line ends of Unicode (U+2028, U+2029) become escapes that
/// JSON reads as the same characters.
std::string escape_json_for_script(std::string_view json);

/// Letters that base64 takes for `bytes` bytes, with padding.
constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
void append_base64(std::string& text, const unsigned char* bytes, std::size_t count);

/// Opening tag of a block of data that no browser runs.
std::string data_block(std::string_view type, std::string_view id);

/// Writes a page in the order of its markup, with data streamed into the middle.
class PageWriter {
 public:
  /// The page must outlive the writer.
  PageWriter(const WebPage& page, ByteSink& sink) : page_(&page), sink_(&sink) {}

  /// Everything before {{data}}. `title` is plain text, `theme` is "light", "dark" or "" for the reader's choice.
  void begin(std::string_view title, std::string_view theme);
  /// Whole data blocks.
  void data(std::string_view blocks) { sink_->write(blocks); }
  /// Everything after {{data}}.
  void end();

 private:
  void write_filled(std::string_view markup, std::string_view title, std::string_view theme);

  const WebPage* page_;
  ByteSink* sink_;
};

}  // namespace v1
}  // namespace attn
