#include "render/pdf_objects.hpp"

#include <charconv>
#include <cstddef>
#include <string>

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kEntry = 20;  // "0000011664 00000 n \n"

/// The number at the front of the text, which is taken off with it; more than any place where there is none.
std::size_t take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::string_view::npos;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

bool pdf_objects_are_whole(std::string_view pdf) {
  constexpr std::string_view kStart = "startxref\n";
  const std::size_t start = pdf.rfind(kStart);
  if (start == std::string_view::npos) return false;
  std::string_view rest = pdf.substr(start + kStart.size());
  const std::size_t table = take_number(rest);
  if (table >= pdf.size()) return false;
  rest = pdf.substr(table);
  if (!take(rest, "xref\n")) return rest.find(" obj") < kEntry;  // a stream, which is an object itself
  if (take_number(rest) != 0 || !take(rest, " ")) return false;
  const std::size_t count = take_number(rest);
  if (!take(rest, "\n") || rest.size() / kEntry < count) return false;
  for (std::size_t object = 0; object < count; ++object) {
    std::string_view entry = rest.substr(object * kEntry, kEntry);
    if (entry.find('n') == std::string_view::npos) continue;  // a free number
    const std::size_t place = take_number(entry);
    if (place >= pdf.size() || !pdf.substr(place).starts_with(std::to_string(object) + " 0 obj")) return false;
  }
  return true;
}

}  // namespace v1
}  // namespace attn
