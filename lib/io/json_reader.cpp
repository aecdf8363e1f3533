#include "io/json_reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/json_document.hpp"
#include "io/json_filter.hpp"
#include "io/json_value.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// The filter as the parser wants its input.
class FilterIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  FilterIterator() = default;  // the end
  explicit FilterIterator(JsonFilter& filter) : filter_(&filter) {}

  char operator*() const { return filter_->peek(); }
  FilterIterator& operator++() {
    filter_->pop();
    return *this;
  }
  void operator++(int) { filter_->pop(); }
  bool operator!=(const FilterIterator&) const { return !filter_->at_end(); }
  bool operator==(const FilterIterator& other) const { return !(*this != other); }

 private:
  JsonFilter* filter_ = nullptr;
};

/// How the parser words a fault inside a string, and how we do.
struct StringFault {
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array<StringFault, 5> kStringFaults{
    {{"ill-formed UTF-8", "invalid UTF-8"},
     {"control character", "a control character in a string must be written as \\n, \\t or \\u...."},
     {"surrogate", "half of a surrogate pair in a string, expected \\uD800..\\uDBFF before \\uDC00..\\uDFFF"},
     {"4 hex digits", "expected four hexadecimal digits after \\u"},
     {"backslash", "unknown escape in a string, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u"}}};

/// Takes the parser's events and hands each member's to the reader of its value.
class JsonHandler {
 public:
  JsonHandler(JsonFilter& filter, const std::string& file, const MemoryBudget& budget)
      : filter_(filter), context_(file, budget) {}

  TextContent take_content() { return std::move(content_); }

  // The names and results of these are the parser's; every fault is thrown.
  bool number_unsigned(std::uint64_t) {
    scalar([this](JsonValueReader& reader) { reader.number(filter_.number()); });
    return true;
  }
  bool number_integer(std::int64_t) { return number_unsigned(0); }
  bool number_float(double, const std::string&) { return number_unsigned(0); }
  bool null() {
    scalar([](JsonValueReader& reader) { reader.null(); });
    return true;
  }
  bool boolean(bool value) {
    scalar([value](JsonValueReader& reader) { reader.boolean(value); });
    return true;
  }
  bool string(std::string& text) {
    scalar([&text](JsonValueReader& reader) { reader.string(text); });
    return true;
  }
  bool binary(std::vector<std::uint8_t>&) { return true; }  // not in JSON text

  bool start_array(std::size_t) {
    if (!reader_) begin_value(is_ignored() ? ignore() : make_json_list_reader(context_, member_));
    reader_->open_list();
    take_successor();
    context_.path.push(false);
    return true;
  }
  bool end_array() { return close(); }
  bool start_object(std::size_t) {
    if (!reader_ && context_.path.depth() > 0) begin_value(is_ignored() ? ignore() : make_json_object_reader(context_, member_));
    if (reader_) reader_->open_object();
    take_successor();
    context_.path.push(true);
    return true;
  }
  bool end_object() {
    if (reader_) return close();
    context_.path.pop();
    return true;
  }
  bool key(std::string& name) {
    context_.path.name(name);
    if (reader_) {
      reader_->name(name);
      take_successor();
    } else {
      context_.keep_text(name);
      member_ = name;
    }
    return true;
  }
  [[noreturn]] bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    const std::string_view theirs = error.what();
    if (theirs.find("invalid string") == std::string_view::npos) filter_.fail_unexpected();
    for (const StringFault& fault : kStringFaults)
      if (theirs.find(fault.theirs) != std::string_view::npos) filter_.fail_at_byte(fault.ours);
    filter_.fail_at_token("this string has no closing quote");
  }

 private:
  template <typename Event>
  void scalar(Event event) {
    if (!reader_) begin_value(is_ignored() ? ignore() : make_json_scalar_reader(context_));
    event(*reader_);
    take_successor();
    context_.path.count_value();
    if (context_.path.depth() == base_) finish_value();
  }

  bool close() {
    reader_->close();
    context_.path.pop();
    context_.path.count_value();
    if (context_.path.depth() == base_) finish_value();
    return true;
  }

  /// `meta` is for whoever wrote the document.
  bool is_ignored() const { return context_.path.depth() == 1 && member_ == "meta"; }
  std::unique_ptr<JsonValueReader> ignore() {
    return make_json_skipping_reader(context_, context_.path.depth(), "what this tool ignores");
  }

  void begin_value(std::unique_ptr<JsonValueReader> reader) {
    reader_ = std::move(reader);
    base_ = context_.path.depth();
  }

  void take_successor() {
    if (context_.successor) reader_ = std::move(context_.successor);
  }

  void finish_value() {
    Member member;
    member.name = member_;
    member.where = context_.path.place();
    member.is_text = true;
    reader_->finish(std::move(member), content_);
    reader_.reset();
  }

  JsonFilter& filter_;
  JsonContext context_;
  TextContent content_;
  std::string member_;  // the name of the member whose value is read
  std::unique_ptr<JsonValueReader> reader_;
  std::size_t base_ = 0;  // the path's depth around that value
};

}  // namespace

TextContent parse_json(FileReader& file, const ReadOptions& /*options*/, const RunContext& run) {
  JsonFilter filter(file, run);
  JsonHandler handler(filter, file.name(), run.budget);
  nlohmann::json::sax_parse(FilterIterator(filter), FilterIterator(), &handler);
  TextContent content = handler.take_content();
  settle_json_document(content);
  return content;
}

std::unique_ptr<ArrayFile> open_json(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run) {
  return std::make_unique<TextArrayFile>("json", std::move(file), options, run, parse_json);
}

}  // namespace v1
}  // namespace attn
