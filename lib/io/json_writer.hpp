#pragma once

#include <memory>

#include "attn/io/array_writer.hpp"

namespace attn {
inline namespace v1 {

/// One array as a document of this tool, a matrix row a line:
/// {"schema":"attn-cli/1","shape":[..],"query_tokens":[..],"scale":..,"allowed":[..],"weights":[[..],..]}
std::unique_ptr<RowSink> make_json_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes);

}  // namespace v1
}  // namespace attn
