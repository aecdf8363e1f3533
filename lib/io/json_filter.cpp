#include "io/json_filter.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kLongestString = std::size_t{16} << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '.' || c == '+' || c == '-'; }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// Where JSON is stricter than std::from_chars: a digit first, no leading zeros, a digit after the point.
bool is_json_number(std::string_view text) {
  if (text[0] == '-') text.remove_prefix(1);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  if (digits == text.size() || text[digits] != '.') return true;
  return digits + 1 < text.size() && is_digit(text[digits + 1]);
}

/// The numbers that Python writes without quotes.
bool non_finite_word(std::string_view text, double& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return value = std::numeric_limits<double>::quiet_NaN(), true;
  if (text == "Infinity") return value = kInfinity, true;
  if (text == "-Infinity") return value = -kInfinity, true;
  return false;
}

}  // namespace

JsonFilter::JsonFilter(FileReader& file, const RunContext& run) : window_(file, run) {
  skip_byte_order_mark(window_);
  line_start_ = window_.offset();
}

bool JsonFilter::give_more() {
  if (in_string_) return give_string_part();
  const bool more = skip_blanks();
  token_place_ = place_of_next();
  token_expect_ = expect_;
  token_in_object_ = !open_.empty() && open_.back();
  if (!more) {
    token_ = {};
    return false;
  }
  const char c = *window_.next;
  if (is_digit(c) || c == '-') {
    give_number();
  } else if (is_letter(c)) {
    give_word();
  } else {
    token_ = std::string_view(window_.next, 1);
    // The parser takes a zero byte for the end of the file, and passes over a byte order mark behind blanks.
    if (c == '\0' || static_cast<unsigned char>(c) >= 0x80) fail_unexpected();
    advance(c);
    give(1);
  }
  return true;
}

/// False at the end of the file.
bool JsonFilter::skip_blanks() {
  while (true) {
    for (; window_.next != window_.end; ++window_.next) {
      const char c = *window_.next;
      if (c == '\n') {
        ++line_;
        line_start_ = window_.offset() + 1;
        continuations_ = 0;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    if (!window_.fill()) return false;
  }
}

void JsonFilter::give(std::size_t count) {
  given_ = window_.next;
  given_end_ = window_.next += count;
}

/// The string as far as the window has it, its closing quote included.
bool JsonFilter::give_string_part() {
  if (!window_.ensure(1)) return false;
  const char* at = window_.next;
  for (; at != window_.end && in_string_; ++at) {
    if (is_continuation(*at)) ++continuations_;
    if (escaped_)
      escaped_ = false;
    else if (*at == '\\')
      escaped_ = true;
    else if (*at == '"')
      in_string_ = false;
  }
  give(static_cast<std::size_t>(at - window_.next));
  string_bytes_ += static_cast<std::size_t>(given_end_ - given_);
  if (string_bytes_ > kLongestString) fail(ErrorKind::memory, at_token(), "a string of over ", format_bytes(kLongestString));
  return true;
}

/// true, false and null go to the parser as they are; NaN and Infinity are numbers; nothing else is JSON.
void JsonFilter::give_word() {
  const std::string_view text = token_ = word();
  if (non_finite_word(text, number_.value)) {
    give_placeholder(text.size());
    return;
  }
  if (text != "true" && text != "false" && text != "null") fail_unexpected();
  after_value();
  give(text.size());
}

void JsonFilter::give_number() {
  if (!read_number()) {
    token_ = word();
    if (!non_finite_word(token_, number_.value)) fail_at_token(concat("'", printable(token_, 40), "' is not a number of JSON"));
  }
  give_placeholder(token_.size());
}

void JsonFilter::give_placeholder(std::size_t length) {
  // The parser needs one more byte to see that its number has ended: the comma behind it, if there is one, or a blank.
  static constexpr std::string_view kWithComma = "0,";
  static constexpr std::string_view kAlone = "0 ";
  number_.text = token_;
  window_.next += length;
  const bool takes_comma = !open_.empty() && window_.next != window_.end && *window_.next == ',';
  if (takes_comma) {
    ++window_.next;
    expect_ = open_.back() ? Expect::name : Expect::value;
  } else {
    after_value();
  }
  given_ = takes_comma ? kWithComma.data() : kAlone.data();
  given_end_ = given_ + kAlone.size();
}

/// Reads token_ and number_ at `next`; false if that is not a finite number as JSON writes it.
bool JsonFilter::read_number() {
  std::from_chars_result result{};
  do {
    if (static_cast<std::size_t>(window_.end - window_.next) > kLongestToken)
      fail(ErrorKind::memory, at_token(), "a number of over ", format_bytes(kLongestToken));
    result = std::from_chars(window_.next, window_.end, number_.value);
    // A number cut off within its exponent seems to end before the "e-".
  } while (window_.end - result.ptr < 3 && window_.fill());
  if (result.ec == std::errc::invalid_argument || (result.ptr != window_.end && is_word(*result.ptr))) return false;
  token_ = std::string_view(window_.next, static_cast<std::size_t>(result.ptr - window_.next));
  if (!is_json_number(token_)) return false;
  // from_chars leaves the value alone both for numbers too large and for those that round to 0.
  number_.in_range = result.ec != std::errc::result_out_of_range || parse_number(token_, number_.value) == NumberStatus::ok;
  return true;
}

/// Letters, digits, signs and points in one run.
std::string_view JsonFilter::word() {
  std::size_t length = 0;
  while (true) {
    const std::size_t available = static_cast<std::size_t>(window_.end - window_.next);
    while (length < available && is_word(window_.next[length])) ++length;
    if (length < available || !window_.fill()) break;
    if (length > kLongestToken) fail(ErrorKind::memory, at_token(), "a word of over ", format_bytes(kLongestToken));
  }
  return std::string_view(window_.next, length);
}

/// Follows a token that is neither number nor word. What the grammar does not allow is left for the parser to find.
void JsonFilter::advance(char token) {
  const bool in_object = token_in_object_;
  if (token == '[' || token == '{') {
    if (open_.size() == kDeepestJson) fail_at_token(concat("lists and objects nested over ", kDeepestJson, " deep"));
    open_.push_back(token == '{');
    expect_ = token == '{' ? Expect::name_or_end : Expect::value_or_end;
  } else if (token == ']' || token == '}') {
    if (!open_.empty()) open_.pop_back();
    after_value();
  } else if (token == ',') {
    expect_ = in_object ? Expect::name : Expect::value;
  } else if (token == ':') {
    expect_ = Expect::value;
  } else if (token == '"') {
    in_string_ = true;
    string_bytes_ = 0;
    if (in_object && expect_ != Expect::value)
      expect_ = Expect::colon;
    else
      after_value();
  }
}

void JsonFilter::after_value() { expect_ = open_.empty() ? Expect::nothing : Expect::comma_or_end; }

JsonFilter::Place JsonFilter::place_of_next() const { return {line_, window_.offset() - line_start_ - continuations_ + 1}; }

std::string JsonFilter::at(const Place& place) const { return concat(window_.name(), ":", place.line, ":", place.column, ": "); }

std::string JsonFilter::at_token() const { return at(token_place_); }

std::string_view JsonFilter::expected() const {
  switch (token_expect_) {
    case Expect::value:
      return "a value";
    case Expect::value_or_end:
      return "a value or ']'";
    case Expect::name:
      return "a name in quotes";
    case Expect::name_or_end:
      return "a name in quotes or '}'";
    case Expect::colon:
      return "':'";
    case Expect::comma_or_end:
      return token_in_object_ ? "',' or '}'" : "',' or ']'";
    case Expect::nothing:
      break;
  }
  return "the end of the document";
}

void JsonFilter::fail_unexpected() const {
  if (token_.empty()) fail_at_token(concat("the file ends here, expected ", expected()));
  const std::string found = token_ == "\"" ? "a string" : concat("'", printable(token_, 40), "'");
  fail_at_token(concat("found ", found, ", expected ", expected()));
}

void JsonFilter::fail_at_token(std::string_view what) const { fail(ErrorKind::malformed, at_token(), what); }

void JsonFilter::fail_at_byte(std::string_view what) const {
  Place place = place_of_next();
  place.column -= 1 + static_cast<std::uint64_t>(given_end_ - given_);
  place.column += static_cast<std::uint64_t>(std::count_if(given_, given_end_, is_continuation));
  fail(ErrorKind::malformed, at(place), what);
}

}  // namespace v1
}  // namespace attn
