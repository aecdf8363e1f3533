#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/base/array.hpp"
#include "attn/base/row_sink.hpp"
#include "attn/base/run.hpp"

namespace attn {
inline namespace v1 {

/// A choice that detection makes unless it is overruled.
enum class Tristate { automatic, yes, no };

/// How an input is to be read where detection is overruled.
struct ReadOptions {
  std::string format = {};             ///< "" to detect, or a name of input_format_names()
  std::optional<char> delimiter = {};  ///< of delimited text
  Tristate header = Tristate::automatic;
  Tristate label_column = Tristate::automatic;
};

/// What a member of a file holds.
enum class MemberKind {
  array,    ///< numbers (a JSON true/false array has dtype boolean)
  strings,  ///< a list of strings
  text,     ///< one string
  scalar,   ///< one JSON number or boolean outside a list; `text` has it as written (true, false, 3, 0.5)
  object,   ///< a JSON object of strings, numbers, booleans: `fields`
  other,    ///< anything else a JSON document may hold (null, lists of objects, deeper objects); its place is kept
};

/// One named thing in a file. Arrays are described here and read on demand.
struct Member {
  std::string name;  ///< "" for the only array of a file without names (CSV, npy, a bare JSON array)
  MemberKind kind = MemberKind::array;
  DType dtype = DType::f64;
  Shape shape;
  bool is_text = false;              ///< the numbers stood as decimal text (JSON, CSV): they count as float64
  std::string where;                 ///< for messages: "doc.json:/query", "q.csv", "dump.npz:q"
  std::vector<std::string> strings;  ///< kind strings
  std::string text;                  ///< kinds text and scalar
  std::vector<std::pair<std::string, std::string>> fields;  ///< kind object, values as text in file order
  std::string found;  ///< kind other: what stands there, for messages ("an object", "null", ...)
  /// Of CSV files with a header or label column and of JSON written by this tool.
  AxisLabels labels;
  /// Of JSON written by this tool: `allowed`; rows numbered as in RowBlock. Null: all allowed or not said.
  std::shared_ptr<const StoredVisibility> allowed;
};

/// An opened input file: what is in it, and its numbers on demand.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;

  /// The path as it was given, for messages.
  const std::string& name() const { return name_; }
  /// A name of input_format_names().
  std::string_view format() const { return format_; }
  /// What is in it, in file order.
  const std::vector<Member>& members() const { return members_; }
  /// The member of that name, or null.
  const Member* find(std::string_view member) const;

  /// The whole array of members()[member], native byte order, C order. Throws `malformed` naming file and place, and
  /// `memory` when it does not fit the budget.
  virtual Array read(std::size_t member, const MemoryBudget& budget) = 0;
  /// Rows [first, first + count) of an array flattened to [rows, last axis], converted to double. Calls must go forward
  /// through the rows; formats that can will not hold the whole array in memory. Throws like `read`.
  virtual void read_rows(std::size_t member, Index first, Index count, double* rows) = 0;

 protected:
  std::string name_;
  std::string_view format_;
  std::vector<Member> members_;
};

/// Opens a file ("-" is standard input), finds its format by magic bytes, then extension, and reads its directory, or
/// for text formats all of it. Sizes are checked against the file and the budget before anything is allocated.
/// Throws `malformed` naming file, place, found, expected; `memory`; `usage` for an unknown format name.
std::unique_ptr<ArrayFile> open_array_file(const std::string& path, const ReadOptions& options, const RunContext& run);

/// A file and the member of it that is meant; empty for all or the only one.
struct FileReference {
  std::string path;
  std::string member;
};
/// "ARCHIVE:NAME" split at its last colon that has an existing file in front, if no file has that whole name; else the
/// whole text as a path.
FileReference parse_file_reference(const std::string& text);

/// Names of the formats that can be read, for ReadOptions::format.
std::vector<std::string> input_format_names();
/// Names of the formats that can be written, for make_array_writer.
std::vector<std::string> output_format_names();

}  // namespace v1
}  // namespace attn
