#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/io/array_file.hpp"
#include "io/json_path.hpp"
#include "io/number_list.hpp"
#include "io/text_array_file.hpp"

namespace attn {
inline namespace v1 {

/// What one value of a JSON document is read with: its path, and the budget its numbers and texts are taken from.
class JsonContext {
 public:
  JsonContext(std::string file, const MemoryBudget& budget) : path(std::move(file)), budget_(budget) {}

  JsonPath path;
  /// Set by a reader that has learnt from the value's first part that another one must take the rest.
  std::unique_ptr<class JsonValueReader> successor;

  const MemoryBudget& budget() const { return budget_; }
  /// Counts a string that is kept; throws ErrorKind::memory when all of them are more than the budget has left.
  void keep_text(const std::string& text);

 private:
  MemoryBudget budget_;
  std::size_t text_bytes_ = 0;
  std::size_t checked_bytes_ = 0;
};

/// Takes the events of one value of a document and makes a member of it. The path's depth counts the lists and objects
/// around an event: `open_list` and `open_object` come before the path is one deeper, `close` before it is one shallower.
class JsonValueReader {
 public:
  /// `base` is the path's depth around the whole value.
  JsonValueReader(JsonContext& context, std::size_t base) : context_(context), base_(base) {}
  virtual ~JsonValueReader() = default;

  virtual void number(const JsonNumber& number) = 0;
  virtual void boolean(bool value) = 0;
  virtual void null() = 0;
  virtual void string(std::string& text) = 0;
  virtual void open_list() = 0;
  virtual void open_object() = 0;
  virtual void name(const std::string& /*name*/) {}
  virtual void close() {}
  /// After the value: what it was. `member.name` and `member.where` are set already.
  virtual void finish(Member member, TextContent& content) = 0;

 protected:
  /// Lists and objects of this value that are open.
  std::size_t depth() const { return context_.path.depth() - base_; }
  JsonPath& path() { return context_.path; }
  const JsonPath& path() const { return context_.path; }

  JsonContext& context_;
  const std::size_t base_;
};

/// Readers for a member's value by what it begins with.
std::unique_ptr<JsonValueReader> make_json_list_reader(JsonContext& context, std::string_view member);
std::unique_ptr<JsonValueReader> make_json_object_reader(JsonContext& context, std::string_view member);
std::unique_ptr<JsonValueReader> make_json_scalar_reader(JsonContext& context);
/// For a list whose first element is an object: [{"token":..,"embedding":[..]},..]. `base` as in JsonValueReader.
std::unique_ptr<JsonValueReader> make_json_records_reader(JsonContext& context, std::size_t base);
/// For `allowed`: a member of kind other, whose numbers are those of the list, kListOpens and kListCloses.
std::unique_ptr<JsonValueReader> make_json_allowed_reader(JsonContext& context);
inline constexpr double kListOpens = -1;
inline constexpr double kListCloses = -2;
/// Takes anything and makes a member of kind other, described by `found`.
std::unique_ptr<JsonValueReader> make_json_skipping_reader(JsonContext& context, std::size_t base, std::string_view found);

/// Whether the list of that name holds texts, even if they look like "NaN".
bool is_token_list(std::string_view member);
/// Whether a string stands for a number: "NaN", "Infinity", "-Infinity".
bool non_finite_string(std::string_view text, double& value);
/// Throws `malformed` at the innermost list if it has another number of values than the first one beside it had.
void check_row_width(const JsonPath& path, Index first_width, bool innermost);
/// Throws `malformed` for a number beyond double.
void check_range(const JsonPath& path, const JsonNumber& number);

}  // namespace v1
}  // namespace attn
