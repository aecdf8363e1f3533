#include <algorithm>
#include <array>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/json_value.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Objects whose lists are settings, not vectors.
constexpr std::array<std::string_view, 2> kSettings{"options", "shapes"};

/// {"The":[..],"cat":[..]}, a vector for each name, in this order; or an object of strings, numbers and booleans.
class ObjectReader final : public JsonValueReader {
 public:
  ObjectReader(JsonContext& context, std::string_view member)
      : JsonValueReader(context, context.path.depth()),
        kind_(std::find(kSettings.begin(), kSettings.end(), member) != kSettings.end() ? Kind::fields : Kind::undecided),
        numbers_(context.budget(), context.path.place()) {}

  void number(const JsonNumber& number) override {
    check_range(path(), number);
    if (kind_ == Kind::vectors && depth() == 2)
      numbers_.push(number.value);
    else
      take_field("a number", number.text);
  }
  void boolean(bool value) override { take_field(value ? "true" : "false", value ? "true" : "false"); }
  void null() override {
    if (kind_ == Kind::vectors) refuse("null");
    skip(depth() > 1 ? std::string("an object that holds null")
                     : concat("an object whose '", printable(path().top().name, 40), "' is null"));
  }
  void string(std::string& text) override {
    double value = 0;
    if (kind_ == Kind::vectors && depth() == 2 && non_finite_string(text, value)) {
      numbers_.push(value);
      return;
    }
    context_.keep_text(text);
    take_field("a string", text);
  }
  void open_list() override {
    if (depth() == 1 && kind_ == Kind::undecided) kind_ = Kind::vectors;
    if (depth() == 1 && kind_ == Kind::fields) fields_.emplace_back(path().top().name, "");
    if (depth() == 1) return;
    if (kind_ == Kind::vectors) refuse("a list");
    skip("an object that holds nested lists");
  }
  void open_object() override {
    if (depth() == 0) return;
    if (kind_ == Kind::vectors) refuse("an object");
    skip("an object that holds objects");
  }
  void name(const std::string& name) override {
    context_.keep_text(name);
    if (depth() == 1) names_.push_back(name);
  }
  void close() override {
    if (kind_ != Kind::vectors || depth() != 2) return;
    if (width_ == kUnknown) width_ = path().top().count;
    check_row_width(path(), width_, true);
  }

  void finish(Member member, TextContent& content) override {
    if (kind_ != Kind::vectors) {
      member.kind = MemberKind::object;
      member.fields = std::move(fields_);
      content.add(std::move(member));
      return;
    }
    member.shape = {static_cast<Index>(names_.size()), width_};
    member.labels.query_tokens = std::move(names_);
    content.add(std::move(member), numbers_.release(DType::f64));
  }

 private:
  enum class Kind { undecided, vectors, fields };
  static constexpr Index kUnknown = -1;

  [[noreturn]] void refuse(std::string_view found) const {
    path().fail_here(depth() == 1 ? "expected a list of numbers" : "expected a number", ", found ", found);
  }
  void skip(std::string_view found) { context_.successor = make_json_skipping_reader(context_, base_, found); }

  /// A value of a setting; the values of a list are joined by commas, as they would be typed.
  void take_field(std::string_view found, std::string_view text) {
    if (kind_ == Kind::vectors) refuse(found);
    kind_ = Kind::fields;
    if (depth() == 1) {
      fields_.emplace_back(path().top().name, text);
      return;
    }
    std::string& joined = fields_.back().second;
    if (path().top().count > 0) joined += ',';
    joined += text;
  }

  Kind kind_;
  NumberList numbers_;
  Index width_ = kUnknown;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// [{"token":"The","embedding":[..]},..]: an array whose rows are labelled, or at the top of a document two members.
class RecordsReader final : public JsonValueReader {
 public:
  RecordsReader(JsonContext& context, std::size_t base)
      : JsonValueReader(context, base), numbers_(context.budget(), context.path.place()) {}

  void number(const JsonNumber& number) override {
    check_range(path(), number);
    if (!in_vector()) refuse("a number");
    numbers_.push(number.value);
  }
  void boolean(bool value) override { refuse(value ? "true" : "false"); }
  void null() override { refuse("null"); }
  void string(std::string& text) override {
    double value = 0;
    if (in_vector() && non_finite_string(text, value)) {
      numbers_.push(value);
    } else {
      if (depth() != 2 || path().top().name != kToken) refuse("a string");
      context_.keep_text(text);
      tokens_.push_back(std::move(text));
    }
  }
  void open_list() override {
    if (depth() != 2 || path().top().name != kVector) refuse("a list");
    ++vectors_;
  }
  void open_object() override {
    if (depth() != 1) refuse("an object");
  }
  void name(const std::string& name) override {
    if (name == kToken || name == kVector) return;
    if (tokens_.empty() && vectors_ == 0)
      context_.successor = make_json_skipping_reader(context_, base_, "a list of objects");
    else
      path().fail_here("unknown name, expected '", kToken, "' and '", kVector, "'");
  }
  void close() override {
    if (depth() == 3) {
      if (width_ == kUnknown) width_ = path().top().count;
      check_row_width(path(), width_, true);
    } else if (depth() == 2) {
      ++records_;
      if (static_cast<Index>(tokens_.size()) != records_) lacks(kToken);
      if (vectors_ != records_) lacks(kVector);
    }
  }

  void finish(Member member, TextContent& content) override {
    const bool is_document = member.name.empty();
    member.shape = {records_, width_};
    if (is_document) {
      Member tokens = member;
      tokens.name = "tokens";
      tokens.kind = MemberKind::strings;
      tokens.strings = tokens_;
      content.add(std::move(tokens));
      member.name = "embeddings";
    }
    member.labels.query_tokens = std::move(tokens_);
    content.add(std::move(member), numbers_.release(DType::f64));
  }

 private:
  static constexpr std::string_view kToken = "token";
  static constexpr std::string_view kVector = "embedding";
  static constexpr Index kUnknown = -1;

  bool in_vector() const { return depth() == 3; }

  [[noreturn]] void refuse(std::string_view found) const {
    std::string_view wanted = "a number";
    if (depth() == 1) wanted = "an object with 'token' and 'embedding'";
    if (depth() == 2) wanted = path().top().name == kToken ? "a string" : "a list of numbers";
    path().fail_here("expected ", wanted, ", found ", found);
  }
  [[noreturn]] void lacks(std::string_view name) const {
    fail(ErrorKind::malformed, path().place_of_top(), ": this object has no '", name, "'");
  }

  NumberList numbers_;
  std::vector<std::string> tokens_;
  Index vectors_ = 0;
  Index records_ = 0;
  Index width_ = kUnknown;
};

}  // namespace

std::unique_ptr<JsonValueReader> make_json_object_reader(JsonContext& context, std::string_view member) {
  return std::make_unique<ObjectReader>(context, member);
}

std::unique_ptr<JsonValueReader> make_json_records_reader(JsonContext& context, std::size_t base) {
  return std::make_unique<RecordsReader>(context, base);
}

}  // namespace v1
}  // namespace attn
