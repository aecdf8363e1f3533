#include "io/json_document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/json_value.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::string_view kSchemaFamily = "attn-cli/";
constexpr std::string_view kSchema = "attn-cli/1";

std::optional<std::size_t> find_member(const TextContent& content, std::string_view name, MemberKind kind) {
  for (std::size_t i = 0; i < content.members.size(); ++i)
    if (content.members[i].name == name && content.members[i].kind == kind) return i;
  return std::nullopt;
}

/// Whether this tool wrote the document; throws for a schema of a later version.
bool is_ours(const TextContent& content) {
  const auto schema = find_member(content, "schema", MemberKind::text);
  if (!schema) return false;
  const Member& member = content.members[*schema];
  if (member.text == kSchema) return true;
  if (member.text.rfind(kSchemaFamily, 0) == 0)
    fail(ErrorKind::malformed, member.where, ": found '", printable(member.text, 40), "', expected '", kSchema, "'");
  return false;
}

/// A whole number that may be a length of an axis.
Index axis_length(double value, const std::string& where) {
  if (!(value >= 0) || value > 0x1p53 || value != std::floor(value))
    fail(ErrorKind::malformed, where, ": expected lengths of axes, found ", format_number(value));
  return static_cast<Index>(value);
}

/// `said` is the full shape; an empty list in the document hides the axes inside it.
void apply_shape(Member& array, const Shape& said, const std::string& where) {
  const Shape& read = array.shape;
  const bool is_prefix = read.size() <= said.size() && std::equal(read.begin(), read.end(), said.begin());
  const bool hides_axes = !read.empty() && read.back() == 0;
  if (!is_prefix || (read.size() < said.size() && !hides_axes))
    fail(ErrorKind::malformed, where, ": ", shape_text(said), ", but '", printable(array.name, 40), "' is ", shape_text(read));
  checked_size(said, where);
  array.shape = said;
}

/// `shape` of a document with one array: a list of numbers, which then is a fact and no array.
bool apply_shape_member(TextContent& content) {
  const auto at = find_member(content, "shape", MemberKind::array);
  if (!at) return false;
  Member& member = content.members[*at];
  const Buffer numbers = std::move(content.numbers[*at]);
  Shape said;
  if (member.shape.size() != 1 || member.dtype != DType::f64 || member.shape[0] > 8)
    fail(ErrorKind::malformed, member.where, ": expected a list of up to 8 lengths of axes");
  for (Index i = 0; i < member.shape[0]; ++i)
    said.push_back(axis_length(reinterpret_cast<const double*>(numbers.data())[i], member.where));
  member.kind = MemberKind::text;
  member.text = shape_text(said);
  for (Member& array : content.members)
    if (array.kind == MemberKind::array) apply_shape(array, said, member.where);
  return true;
}

/// `shapes` of a document with several arrays: {"weights":[2,3],..}.
bool apply_shapes_member(TextContent& content) {
  const auto at = find_member(content, "shapes", MemberKind::object);
  if (!at) return false;
  const Member member = content.members[*at];
  for (const auto& [name, lengths] : member.fields) {
    const auto array = find_member(content, name, MemberKind::array);
    if (!array) continue;
    Shape said;
    for (std::size_t begin = 0; begin <= lengths.size();) {
      const std::size_t end = std::min(lengths.find(',', begin), lengths.size());
      double value = -1;
      parse_number(std::string_view(lengths).substr(begin, end - begin), value);
      said.push_back(axis_length(value, member.where));
      begin = end + 1;
    }
    apply_shape(content.members[*array], said, member.where);
  }
  return true;
}

/// `[]` may be of any rank, unless the document says its shape.
void refuse_unknown_rank(const TextContent& content, bool says_shapes) {
  for (const Member& member : content.members)
    if (member.kind == MemberKind::array && member.shape == Shape{0} && !says_shapes)
      fail(ErrorKind::malformed, member.where, ": empty list, expected ", member.name == "options" ? "an object" : "numbers");
}

/// What the rows and the columns of an array written by this tool are.
struct AxisMeaning {
  std::string_view array;
  bool rows_are_keys;
  bool columns_are_keys;
};
constexpr std::array<AxisMeaning, 9> kAxisMeanings{{{"weights", false, true},
                                                    {"scores", false, true},
                                                    {"output", false, false},
                                                    {"lse", false, false},
                                                    {"query", false, false},
                                                    {"key", true, false},
                                                    {"value", true, false},
                                                    {"present_key", true, false},
                                                    {"present_value", true, false}}};

/// Copies tokens to the axis they name. Weights and scores must fit their tokens; other arrays of a bundle may have fewer
/// rows (the keys without their past) or hold heads in the place of rows.
void label_axis(std::vector<std::string>& labels, const Member* tokens, Index length, const Member& array, bool must_fit) {
  if (tokens == nullptr || tokens->strings.empty()) return;
  const Index count = static_cast<Index>(tokens->strings.size());
  if (count == length)
    labels = tokens->strings;
  else if (must_fit)
    fail(ErrorKind::malformed, tokens->where, ": ", count, count == 1 ? " token" : " tokens", ", but '", array.name, "' has ",
         length);
}

void label_array(Member& array, const AxisMeaning& meaning, const Member* query_tokens, const Member* key_tokens) {
  const std::size_t rank = array.shape.size();
  const std::size_t axes_behind_rows = array.name == "lse" ? 1 : 2;
  const bool is_matrix_of_cells = meaning.columns_are_keys;
  if (rank < axes_behind_rows || (rank > 3 && !is_matrix_of_cells && array.name != "lse")) return;
  label_axis(array.labels.query_tokens, meaning.rows_are_keys ? key_tokens : query_tokens, array.shape[rank - axes_behind_rows],
             array, is_matrix_of_cells);
  if (is_matrix_of_cells) label_axis(array.labels.key_tokens, key_tokens, array.shape[rank - 1], array, true);
}

void label_arrays(TextContent& content) {
  const auto query = find_member(content, "query_tokens", MemberKind::strings);
  const auto key = find_member(content, "key_tokens", MemberKind::strings);
  const Member* const query_tokens = query ? &content.members[*query] : nullptr;
  const Member* const key_tokens = key ? &content.members[*key] : nullptr;
  for (Member& array : content.members)
    for (const AxisMeaning& meaning : kAxisMeanings)
      if (array.kind == MemberKind::array && array.name == meaning.array) label_array(array, meaning, query_tokens, key_tokens);
}

/// Reads the stream that stands for `allowed` against the shape of its array.
class AllowedRows {
 public:
  AllowedRows(const Buffer& stream, const Member& array, const Member& allowed)
      : next_(reinterpret_cast<const double*>(stream.data())), array_(array), where_(allowed.where) {}

  std::shared_ptr<const StoredVisibility> read() {
    if (array_.shape.size() < 2) fail(ErrorKind::malformed, where_, ": '", printable(array_.name, 40), "' has no rows of keys");
    read_axis(0);
    return std::make_shared<StoredVisibility>(std::move(rows_));
  }

 private:
  // The stream is balanced, as it comes from a JSON list; so it never ends inside one.
  void read_axis(std::size_t axis) {
    if (axis + 1 == array_.shape.size()) return read_row();
    expect_list();
    Index count = 0;
    for (; *next_ != kListCloses; ++count) read_axis(axis + 1);
    ++next_;
    if (count == array_.shape[axis]) return;
    refuse(concat("a list of ", count, ", but axis ", axis, " of '", printable(array_.name, 40), "' has ", array_.shape[axis]));
  }

  void read_row() {
    expect_list();
    std::vector<Range> row;
    while (*next_ != kListCloses) {
      expect_list();
      const Range range{index(), index()};
      if (*next_++ != kListCloses) refuse("a pair has two numbers");
      const Index seen = row.empty() ? 0 : row.back().end;
      if (range.empty() || range.begin < seen || range.end > array_.shape.back())
        refuse(concat("found [", range.begin, ",", range.end, "], expected rising ranges [begin,end] within ",
                      array_.shape.back(), " keys"));
      if (!row.empty() && range.begin == seen)
        row.back().end = range.end;
      else
        row.push_back(range);
    }
    ++next_;
    rows_.push_back(std::move(row));
  }

  void expect_list() {
    if (*next_++ != kListOpens) refuse("expected a list");
  }
  Index index() {
    if (*next_ < 0) refuse("a pair has two numbers");
    return static_cast<Index>(*next_++);
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorKind::malformed, where_, ": row ", rows_.size(), ": ", what);
  }

  const double* next_;
  const Member& array_;
  const std::string& where_;
  std::vector<std::vector<Range>> rows_;
};

/// Gives `allowed` to the array it is about and takes it out of the members.
void attach_allowed(TextContent& content) {
  const auto at = find_member(content, "allowed", MemberKind::other);
  if (!at || content.numbers[*at].size() == 0) return;
  auto target = find_member(content, "weights", MemberKind::array);
  const auto scores = find_member(content, "scores", MemberKind::array);
  if (!target) target = scores;
  if (!target) return;
  Member& array = content.members[*target];
  array.allowed = AllowedRows(content.numbers[*at], array, content.members[*at]).read();
  if (scores && content.members[*scores].shape == array.shape) content.members[*scores].allowed = array.allowed;
  content.members.erase(content.members.begin() + static_cast<std::ptrdiff_t>(*at));
  content.numbers.erase(content.numbers.begin() + static_cast<std::ptrdiff_t>(*at));
}

}  // namespace

void settle_json_document(TextContent& content) {
  const bool ours = is_ours(content);
  const bool says_shapes = ours && (apply_shape_member(content) || apply_shapes_member(content));
  refuse_unknown_rank(content, says_shapes);
  if (ours) label_arrays(content);
  attach_allowed(content);  // said by hand, it means the same
}

}  // namespace v1
}  // namespace attn
