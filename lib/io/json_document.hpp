#pragma once

#include "io/text_array_file.hpp"

namespace attn {
inline namespace v1 {

/// Settles what only the whole of a JSON document tells: refuses lists whose rank is unknown, and in documents that this
/// tool wrote gives the arrays their full shape, labels and allowed cells.
void settle_json_document(TextContent& content);

}  // namespace v1
}  // namespace attn
