#pragma once

#include <optional>
#include <string>
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
  std::string origin;  ///< for messages
};
/// Reads "FILE" or "ARCHIVE:NAME" as exactly one array; errors list the members and the nearest name.
LoadedArray load_array(const std::string& reference, const ReadOptions& options, Console& console);

/// --tokens TEXT (split at blanks) or @FILE (one a line, or a JSON array).
std::vector<std::string> token_list(std::string_view option, const std::string& value, const ReadOptions& options,
                                    Console& console);
/// A list of whole numbers "2,0" or @FILE (any readable format).
std::vector<Index> number_list(std::string_view option, const std::string& value, const ReadOptions& options, Console& console);

}  // namespace attn::app
