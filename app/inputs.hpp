#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/console.hpp"
#include "attn/base/array.hpp"
#include "attn/io/array_file.hpp"

namespace attn::app {

/// --input-format, --delimiter, --header, --label-column.
ReadOptions read_options(const Words& words);

/// A matrix given by one file argument ("q.csv", "dump.npz:q", "-").
struct LoadedArray {
  Array array;
  AxisLabels labels;
  bool is_text = false;
  std::string origin;  ///< for messages: "q.csv", "doc.json:/query"
  std::string member;  ///< the name in its file; "" if it has none
};

/// The input files of one run. A file named twice is opened once; a pipe can be named only once.
class InputFiles {
 public:
  InputFiles(ReadOptions options, const RunContext& run) : options_(std::move(options)), run_(run) {}

  /// Throws `usage` for a pipe that was already read, else as open_array_file.
  ArrayFile& open(const std::string& path);
  /// Notes that a file is read outside `open`; throws `usage` if it is a pipe that was already read.
  void claim(const std::string& path);
  const RunContext& run() const { return run_; }

 private:
  ReadOptions options_;
  const RunContext& run_;
  std::map<std::string, std::unique_ptr<ArrayFile>> files_;
  std::set<std::pair<unsigned long long, unsigned long long>> pipes_;  // device and inode
};

/// The file's name for messages: printable, "standard input" for "-".
std::string shown_name(const ArrayFile& file);

/// One array of an open file, with its labels and its name for messages.
LoadedArray read_member(ArrayFile& file, const Member& member, const MemoryBudget& budget);

/// Reads "FILE" or "ARCHIVE:NAME" as exactly one array; errors list the members and the nearest name.
LoadedArray load_array(const std::string& reference, InputFiles& files);
LoadedArray load_array(const std::string& reference, const ReadOptions& options, Console& console);
/// The same for embeddings, which may also be {"The":[..],"cat":[..]}.
LoadedArray load_embeddings(const std::string& reference, InputFiles& files);

/// Whether a file is a map from tokens to vectors: nothing but rows of numbers, at least one.
bool is_token_map(const ArrayFile& file);
/// Its rows in order as one matrix labelled by the tokens.
LoadedArray read_token_map(ArrayFile& file, const MemoryBudget& budget);

/// --tokens TEXT (split at blanks) or @FILE (one a line, or a JSON array).
std::vector<std::string> token_list(std::string_view option, const std::string& value, InputFiles& files);
std::vector<std::string> token_list(std::string_view option, const std::string& value, const ReadOptions& options,
                                    Console& console);
/// A list of whole numbers "2,0" or @FILE (any readable format).
std::vector<Index> number_list(std::string_view option, const std::string& value, InputFiles& files);
std::vector<Index> number_list(std::string_view option, const std::string& value, const ReadOptions& options, Console& console);
/// The numbers of an array as whole numbers, in C order; throws `mismatch` naming `origin` for any that is not whole.
std::vector<Index> whole_numbers(const Array& array, const std::string& origin);

/// Strings of a JSON array ("[\"a\",\"b\"]"); no value if the text is anything else.
std::optional<std::vector<std::string>> parse_string_list(std::string_view json);
/// The fields of a JSON object whose values are strings, numbers, booleans, or lists of numbers (joined by commas), as
/// text in file order; no value if the text is anything else.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_flat_object(std::string_view json);

}  // namespace attn::app
