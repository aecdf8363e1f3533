#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::fuzz {

/// Reads XML without a document type, as strictly as the recommendation: what it finds first to be wrong is `fault`.
class WellFormed {
 public:
  explicit WellFormed(std::string_view text) : rest_(text) {
    check_characters();
    if (accept("<?xml")) skip_behind("?>");
    while (!rest_.empty() && fault_.empty()) next();
    if (fault_.empty() && !open_.empty()) fail("an element is not closed: " + open_.back());
    if (fault_.empty() && elements_.empty()) fail("no element");
  }

  const std::string& fault() const { return fault_; }
  const std::vector<std::string>& elements() const { return elements_; }
  const std::vector<std::pair<std::string, std::string>>& attributes() const { return attributes_; }

 private:
  void check_characters() {
    for (const char c : rest_)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return fail("a control character");
    for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
      if (rest_.find(forbidden) != rest_.npos) return fail("a character that XML forbids");
  }

  void next() {
    if (accept("<!--")) return skip_behind("-->");
    if (accept("</")) {
      const std::string name = word();
      if (open_.empty() || open_.back() != name) return fail("an end tag that closes nothing: " + name);
      open_.pop_back();
      blanks();
      if (!accept(">")) fail("an end tag without its end");
      return;
    }
    if (accept("<")) return element();
    const std::string_view text = rest_.substr(0, rest_.find('<'));
    if (open_.empty() && text.find_first_not_of(" \n\t") != text.npos) return fail("text outside of the root");
    check_text(text);
    rest_.remove_prefix(text.size());
  }

  void element() {
    const std::string name = word();
    if (name.empty()) return fail("a tag without a name");
    if (open_.empty() && !elements_.empty()) return fail("two roots");
    elements_.push_back(name);
    std::vector<std::string> seen;
    while (fault_.empty()) {
      const bool blank = blanks();
      if (accept("/>")) return;
      if (accept(">")) return open_.push_back(name);
      const std::string attribute = word();
      if (!blank || attribute.empty() || !accept("=") || rest_.empty()) return fail("a broken tag: " + name);
      for (const std::string& other : seen)
        if (other == attribute) return fail("an attribute twice: " + attribute);
      seen.push_back(attribute);
      const char quote = rest_[0];
      const std::size_t end = rest_.find(quote, 1);
      if ((quote != '"' && quote != '\'') || end == rest_.npos) return fail("a value without quotes: " + attribute);
      const std::string_view value = rest_.substr(1, end - 1);
      if (value.find('<') != value.npos) return fail("'<' in a value");
      check_text(value);
      attributes_.emplace_back(attribute, value);
      rest_.remove_prefix(end + 1);
    }
  }

  /// Every ampersand begins an entity.
  void check_text(std::string_view text) {
    for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
      const std::string_view entity = text.substr(at + 1, text.find(';', at) - at - 1);
      bool known = entity == "lt" || entity == "gt" || entity == "amp" || entity == "quot" || entity == "apos";
      if (entity.size() > 1 && entity[0] == '#') known = entity.find_first_not_of("0123456789abcdefxABCDEF", 1) == entity.npos;
      if (!known) return fail("an ampersand that begins no entity");
    }
  }

  std::string word() {
    const std::string name(rest_.substr(0, rest_.find_first_of(" \n\t=/><\"'")));
    rest_.remove_prefix(name.size());
    return name;
  }
  bool blanks() {
    const std::size_t count = std::min(rest_.find_first_not_of(" \n\t"), rest_.size());
    rest_.remove_prefix(count);
    return count > 0;
  }
  bool accept(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void skip_behind(std::string_view text) {
    const std::size_t at = rest_.find(text);
    if (at == rest_.npos) return fail("something is not closed");
    rest_.remove_prefix(at + text.size());
  }
  void fail(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  std::string_view rest_;
  std::string fault_;
  std::vector<std::string> open_, elements_;
  std::vector<std::pair<std::string, std::string>> attributes_;
};

}  // namespace attn::fuzz
