#pragma once

#include <memory>

#include "attn/io/array_file.hpp"
#include "io/file_reader.hpp"
#include "io/text_array_file.hpp"

namespace attn {
inline namespace v1 {

/// Reads a JSON document front to back; numbers go straight into their arrays. Throws `malformed` with line and column
/// for wrong syntax, with a pointer such as /query/2 for wrong values.
TextContent parse_json(FileReader& file, const ReadOptions& options, const RunContext& run);

/// A row of THE LIST opens with this.
std::unique_ptr<ArrayFile> open_json(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run);

}  // namespace v1
}  // namespace attn
