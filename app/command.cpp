#include "app/command.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {
namespace {

std::string found(std::string_view option, std::string_view text) {
  return concat(option, ": found '", printable(text, 80), "', expected ");
}

/// `whole`: what was found is a whole number, so the limits are all there is to say.
std::string range_text(long long least, long long most, bool whole) {
  constexpr long long kOpen = 1LL << 40;  // beyond it a bound says nothing to a reader who typed no number
  if (most >= kOpen && !whole) return least <= -kOpen ? "a whole number" : concat("a whole number of at least ", least);
  return concat("a whole number from ", least, " to ", most);
}

/// A whole number of any size: -12, not 012 or 1.5.
bool is_whole(std::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos && (text[0] != '0' || text.size() == 1);
}

void fail_choice(std::string_view place, std::string_view text, const std::vector<std::string>& choices) {
  fail_with_hint(ErrorKind::usage, did_you_mean(text, choices), found(place, text), word_list(choices));
}

void append_index_range(std::vector<long long>& list, std::string_view option, std::string_view part, std::string_view text) {
  constexpr long long kMost = 1 << 20;  // heads: a longer list is a slip, and would only eat memory
  const std::size_t dash = part.find('-');
  const auto first = parse_integer(part.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > kMost)
    fail(ErrorKind::usage, found(option, text), "numbers and ranges from 0, such as 0-3,7");
  for (Index index = *first; index <= *last; ++index) list.push_back(index);
}

}  // namespace

double number_value(std::string_view option, std::string_view text) {
  double value = 0;
  const NumberStatus status = parse_number(text, value);
  if (status == NumberStatus::out_of_range) fail(ErrorKind::usage, found(option, text), "a number within ±1.8e308");
  if (status != NumberStatus::ok || !std::isfinite(value)) fail(ErrorKind::usage, found(option, text), "a finite number");
  return value;
}

long long integer_value(std::string_view option, std::string_view text, long long least, long long most) {
  const auto value = parse_integer(text);
  if (!value || *value < least || *value > most)
    fail(ErrorKind::usage, found(option, text), range_text(least, most, is_whole(text)));
  return *value;
}

std::string choice_value(std::string_view option, std::string_view text, std::span<const std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) fail_choice(option, text, as_strings(choices));
  return std::string(text);
}

std::vector<long long> index_list_value(std::string_view option, std::string_view text, bool* single) {
  std::vector<long long> list;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    append_index_range(list, option, text.substr(begin, end - begin), text);
    begin = end + 1;
  }
  auto sorted = list;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) fail(ErrorKind::usage, option, ": ", *twice, " stands twice in '", printable(text, 80), "'");
  if (single) *single = text.find_first_of("-,") == std::string_view::npos;
  return list;
}

void check_value(const OptionSpec& option, std::string_view place, std::string_view text) {
  constexpr long long kAny = std::numeric_limits<long long>::max();
  switch (option.kind) {
    case ValueKind::number:
      number_value(place, text);
      return;
    case ValueKind::integer:
      // How large it may be is said where it is used.
      if (!is_whole(text)) integer_value(place, text, -kAny, kAny);
      return;
    case ValueKind::choice:
      choice_value(place, text, option.choices);
      return;
    case ValueKind::size:
      if (!parse_size(text)) fail(ErrorKind::usage, found(place, text), "a size such as 512M or 1.5GiB");
      return;
    case ValueKind::colormap: {
      const auto names = colormap_names();
      if (std::find(names.begin(), names.end(), text) == names.end()) fail_choice(place, text, names);
      return;
    }
    case ValueKind::none:
    case ValueKind::file:
    case ValueKind::text:
      return;
  }
}

std::vector<OptionSpec> all_options(const Command& command) {
  std::vector<OptionSpec> options = command.options;
  options.insert(options.end(), common_options().begin(), common_options().end());
  return options;
}

}  // namespace attn::app
