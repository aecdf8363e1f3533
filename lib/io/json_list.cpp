#include <cmath>

#include "attn/base/text.hpp"
#include "io/json_value.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kHighestRank = 8;

/// A nested list of numbers, or of true and false, of any rank; or a list of strings.
class ListReader final : public JsonValueReader {
 public:
  ListReader(JsonContext& context, std::string_view member)
      : JsonValueReader(context, context.path.depth()),
        holds_tokens_(is_token_list(member)),
        numbers_(context.budget(), context.path.place()) {}

  void number(const JsonNumber& number) override {
    check_range(path(), number);
    take_leaf("a number");
    note_number(number.value, number.text);
    numbers_.push(number.value);
  }

  void boolean(bool value) override {
    const std::string_view text = value ? "true" : "false";
    take_leaf(text);
    if (has_other_than_01_) path().fail_here("expected a number, found ", text);
    has_booleans_ = true;
    numbers_.push(value ? 1 : 0);
  }

  void null() override { path().fail_here("expected ", wanted(), ", found null"); }

  void string(std::string& text) override {
    double value = 0;
    const bool is_number = !holds_tokens_ && non_finite_string(text, value);
    if (content_ == Content::numbers && !is_number) path().fail_here("expected a number, found a string");
    if (content_ == Content::numbers || (is_number && depth() > 1)) {
      take_leaf("a string");
      note_number(value, text);
      numbers_.push(value);
      return;
    }
    if (depth() > 1) path().fail_here("expected a number, found a string");
    take_text(text, is_number, value);
  }

  void open_list() override {
    if (leaf_depth_ != 0 && depth() >= leaf_depth_) path().fail_here("expected ", wanted(), ", found a list");
  }

  void open_object() override {
    if (depth() != 1 || path().top().count > 0) path().fail_here("expected ", wanted(), ", found an object");
    context_.successor = make_json_records_reader(context_, base_);
    context_.successor->open_object();
  }

  void close() override {
    const std::size_t level = depth() - 1;
    const Index count = path().top().count;
    if (leaf_depth_ == 0) leaf_depth_ = depth();  // an empty list: what would stand in it is a value
    if (sizes_.size() <= level) sizes_.resize(level + 1, kUnknown);
    if (sizes_[level] == kUnknown) sizes_[level] = count;
    check_row_width(path(), sizes_[level], depth() == leaf_depth_);
  }

  void finish(Member member, TextContent& content) override {
    const bool is_text = content_ == Content::strings || (content_ == Content::undecided && holds_tokens_);
    member.strings = std::move(strings_);
    if (is_text) {
      member.kind = MemberKind::strings;
      content.add(std::move(member));
      return;
    }
    if (sizes_.size() > kHighestRank)
      fail(ErrorKind::malformed, member.where, ": lists nested ", sizes_.size(), " deep, expected at most ", kHighestRank);
    member.dtype = has_booleans_ ? DType::boolean : DType::f64;
    member.shape = sizes_;
    const DType dtype = member.dtype;
    content.add(std::move(member), numbers_.release(dtype));
  }

 private:
  /// `either`: a list of nothing but "NaN" and the like, which may be tokens or numbers.
  enum class Content { undecided, numbers, strings, either };
  static constexpr Index kUnknown = -1;

  std::string_view wanted() const {
    if (leaf_depth_ != 0 && depth() < leaf_depth_) return "a list";
    return content_ == Content::strings || holds_tokens_ ? "a string" : "a number";
  }

  void take_leaf(std::string_view found) {
    if (content_ == Content::strings) path().fail_here("expected a string, found ", found);
    if (leaf_depth_ == 0) leaf_depth_ = depth();
    if (depth() != leaf_depth_) path().fail_here("expected a list, found ", found);
    if (content_ == Content::either) strings_.clear();
    content_ = Content::numbers;
  }

  /// Numbers may stand beside true and false only as 0 and 1.
  void note_number(double value, std::string_view text) {
    if (value == 0 || value == 1) return;
    has_other_than_01_ = true;
    if (has_booleans_) path().fail_here("expected true, false, 0 or 1, found ", printable(text, 40));
  }

  void take_text(std::string& text, bool is_number, double value) {
    if (leaf_depth_ == 0) leaf_depth_ = depth();
    if (content_ == Content::undecided) content_ = is_number ? Content::either : Content::strings;
    if (!is_number) content_ = Content::strings;
    if (content_ == Content::either) {
      note_number(value, text);
      numbers_.push(value);
    }
    context_.keep_text(text);
    strings_.push_back(std::move(text));
  }

  bool holds_tokens_;
  Content content_ = Content::undecided;
  std::size_t leaf_depth_ = 0;  // lists around a value; 0: not known yet
  Shape sizes_;
  NumberList numbers_;
  std::vector<std::string> strings_;
  bool has_booleans_ = false;
  bool has_other_than_01_ = false;
};

}  // namespace

std::unique_ptr<JsonValueReader> make_json_list_reader(JsonContext& context, std::string_view member) {
  if (member == "allowed") return make_json_allowed_reader(context);
  return std::make_unique<ListReader>(context, member);
}

}  // namespace v1
}  // namespace attn
