#include <algorithm>
#include <array>
#include <optional>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/npy_header.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Reads the few forms of Python literals that a header may hold; nothing is ever evaluated.
class DictReader {
 public:
  DictReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader read() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (at_ < text_.size()) refuse("text after the dict");
    require(type_.has_value(), "descr");
    require(fortran_order_.has_value(), "fortran_order");
    require(shape_.has_value(), "shape");
    return {*type_, *fortran_order_, *shape_, 0};
  }

 private:
  void read_entry() {
    const std::string_view key = quoted();
    expect(':');
    if (key == "descr")
      set(type_, key, read_type());
    else if (key == "fortran_order")
      set(fortran_order_, key, read_boolean());
    else if (key == "shape")
      set(shape_, key, read_shape());
    else
      fail(ErrorKind::malformed, where_, ": the npy header has the key '", printable(key, 40),
           "', expected descr, fortran_order and shape");
  }

  template <typename Value>
  void set(std::optional<Value>& slot, std::string_view key, Value value) {
    if (slot) fail(ErrorKind::malformed, where_, ": the npy header has the key '", key, "' twice");
    slot = std::move(value);
  }

  void require(bool present, std::string_view key) const {
    if (!present) fail(ErrorKind::malformed, where_, ": the npy header has no '", key, "'");
  }

  NpyType read_type() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
      fail(ErrorKind::malformed, where_, ": holds records of a structured dtype ", printable(text_.substr(at_, 40)),
           ", expected plain numbers");
    return parse_npy_type(quoted(), where_);
  }

  bool read_boolean() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    refuse("expected True or False");
  }

  Shape read_shape() {
    Shape shape;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) refuse("expected ',' or ')'");
      if (shape.size() == kMostNpyAxes) fail(ErrorKind::malformed, where_, ": has more than ", kMostNpyAxes, " axes");
      shape.push_back(read_axis());
      comma = accept(',');
    }
    if (shape.size() == 1 && !comma) refuse("expected '(n,)' for one axis");
    return shape;
  }

  Index read_axis() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",) ").find(text_[at_]) == std::string_view::npos) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    // Python 2 wrote long integers as 2L.
    const auto axis = parse_integer(word.ends_with('L') ? word.substr(0, word.size() - 1) : word);
    if (!axis || *axis < 0)
      fail(ErrorKind::malformed, where_, ": the npy shape has the bad dimension '", printable(word, 40), "'");
    return *axis;
  }

  /// A string without escapes between either kind of quotes.
  std::string_view quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') refuse("expected a quoted name");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a quote is not closed");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse(concat("expected '", c, "'"));
  }

  [[noreturn]] void refuse(std::string_view what) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()), 20);
    fail(ErrorKind::malformed, where_, ": the npy header is not as it should be at byte ", at_, " ('", printable(rest, 40),
         "'): ", what);
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::optional<NpyType> type_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

NpyHeader parse_npy_dict(std::string_view text, const std::string& where) {
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; };
  const auto control = std::find_if(text.begin(), text.end(), is_control);
  if (control != text.end())
    fail(ErrorKind::malformed, where, ": the npy header has a control character (", printable(std::string_view(&*control, 1)),
         ") at byte ", control - text.begin());
  return DictReader(text, where).read();
}

}  // namespace v1
}  // namespace attn
