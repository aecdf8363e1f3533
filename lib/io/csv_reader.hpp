#pragma once

#include "io/text_array_file.hpp"

namespace attn {
inline namespace v1 {

/// Reads delimited text as one array. Throws `malformed` with line and cell.
TextContent parse_csv(FileReader& file, const ReadOptions& options, const RunContext& run);

/// Rows of THE LIST open with these: the delimiter is found, or is a tab.
std::unique_ptr<ArrayFile> open_csv(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run);
std::unique_ptr<ArrayFile> open_tsv(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run);

}  // namespace v1
}  // namespace attn
