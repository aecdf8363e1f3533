#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attn/io/array_writer.hpp"

namespace attn {
inline namespace v1 {

/// Pieces of the JSON documents this tool writes: of one array (json writer) and of several (bundle).

/// The nested array alone, "[[..],..]", as a value inside a document; nothing before or after it.
std::unique_ptr<RowSink> make_json_value_writer(const ArrayHeader& header, ByteSink& bytes);

/// `"query_tokens":[..],"key_tokens":[..],"scale":..,"mask_text":..,` for those that are there, each followed by a comma.
void append_json_labels_and_facts(std::string& out, const ArrayHeader& header);

/// `"allowed":[[[0,1]],..],` written row by row; nothing if header.visibility is null.
void write_json_allowed(const ArrayHeader& header, ByteSink& bytes);

/// `"shapes":{"weights":[0,3],..},` if any of the arrays has no elements: its lists alone would not tell all axes.
void append_json_shapes(std::string& out, const std::vector<ArrayHeader>& headers);

}  // namespace v1
}  // namespace attn
