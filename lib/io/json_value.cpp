#include "io/json_value.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// What a kept string costs besides its characters.
constexpr std::size_t kStringOverhead = sizeof(std::string) + 16;
constexpr std::size_t kCheckStep = std::size_t{1} << 20;

class ScalarReader final : public JsonValueReader {
 public:
  explicit ScalarReader(JsonContext& context) : JsonValueReader(context, context.path.depth()) {}

  void number(const JsonNumber& number) override {
    check_range(path(), number);
    take(MemberKind::scalar, std::string(number.text));
  }
  void boolean(bool value) override { take(MemberKind::scalar, value ? "true" : "false"); }
  void null() override { found_ = "null"; }
  void string(std::string& text) override {
    context_.keep_text(text);
    take(MemberKind::text, std::move(text));
  }
  void open_list() override {}    // a value that begins so has another reader
  void open_object() override {}  // likewise

  void finish(Member member, TextContent& content) override {
    member.kind = kind_;
    member.text = std::move(text_);
    member.found = found_;
    content.add(std::move(member));
  }

 private:
  void take(MemberKind kind, std::string text) {
    kind_ = kind;
    text_ = std::move(text);
  }

  MemberKind kind_ = MemberKind::other;
  std::string text_;
  std::string found_;
};

class SkippingReader final : public JsonValueReader {
 public:
  SkippingReader(JsonContext& context, std::size_t base, std::string_view found)
      : JsonValueReader(context, base), found_(found) {}

  void number(const JsonNumber&) override {}
  void boolean(bool) override {}
  void null() override {}
  void string(std::string&) override {}
  void open_list() override {}
  void open_object() override {}
  void finish(Member member, TextContent& content) override {
    member.kind = MemberKind::other;
    member.found = found_;
    content.add(std::move(member));
  }

 private:
  std::string found_;
};

/// Keeps `allowed` as it stands: how deep its rows lie is known only once the shape of its array is.
class AllowedReader final : public JsonValueReader {
 public:
  explicit AllowedReader(JsonContext& context)
      : JsonValueReader(context, context.path.depth()), stream_(context.budget(), context.path.place()) {}

  void number(const JsonNumber& number) override {
    const auto index = parse_integer(number.text);
    if (!index || *index < 0) path().fail_here("expected the number of a key, found ", printable(number.text, 40));
    stream_.push(static_cast<double>(*index));
  }
  void boolean(bool) override { refuse("true or false"); }
  void null() override { refuse("null"); }
  void string(std::string&) override { refuse("a string"); }
  void open_list() override { stream_.push(kListOpens); }
  void open_object() override { refuse("an object"); }
  void close() override { stream_.push(kListCloses); }
  void finish(Member member, TextContent& content) override {
    member.kind = MemberKind::other;
    member.found = "a list of ranges";
    content.add(std::move(member), stream_.release(DType::f64));
  }

 private:
  [[noreturn]] void refuse(std::string_view found) const { path().fail_here("expected ranges of keys, found ", found); }

  NumberList stream_;
};

}  // namespace

void JsonContext::keep_text(const std::string& text) {
  text_bytes_ += text.size() + kStringOverhead;
  if (text_bytes_ - checked_bytes_ < kCheckStep) return;
  budget_.require(text_bytes_, "the text in " + path.place());
  checked_bytes_ = text_bytes_;
}

std::unique_ptr<JsonValueReader> make_json_scalar_reader(JsonContext& context) { return std::make_unique<ScalarReader>(context); }

std::unique_ptr<JsonValueReader> make_json_skipping_reader(JsonContext& context, std::size_t base, std::string_view found) {
  return std::make_unique<SkippingReader>(context, base, found);
}

std::unique_ptr<JsonValueReader> make_json_allowed_reader(JsonContext& context) {
  return std::make_unique<AllowedReader>(context);
}

bool is_token_list(std::string_view member) {
  static constexpr std::array<std::string_view, 4> kNames{"tokens", "query_tokens", "key_tokens", "context_tokens"};
  return std::find(kNames.begin(), kNames.end(), member) != kNames.end();
}

bool non_finite_string(std::string_view text, double& value) {
  if (text != "NaN" && text != "Infinity" && text != "-Infinity") return false;
  return parse_number(text, value) == NumberStatus::ok;
}

void check_row_width(const JsonPath& path, Index first_width, bool innermost) {
  const Index width = path.top().count;
  if (width == first_width) return;
  const std::string_view one = innermost ? "value" : "item";
  fail(ErrorKind::malformed, path.place_of_top(), innermost ? ": row has " : ": list has ", width, " ", one,
       width == 1 ? "" : "s", innermost ? ", row 0 has " : ", the first has ", first_width);
}

void check_range(const JsonPath& path, const JsonNumber& number) {
  if (!number.in_range) path.fail_here("the number ", printable(number.text, 40), " is out of range (at most 1.8e308)");
}

}  // namespace v1
}  // namespace attn
