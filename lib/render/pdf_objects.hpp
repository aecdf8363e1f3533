#pragma once

#include <string_view>

namespace attn {
inline namespace v1 {

/// Whether every object of a PDF with a table of cross-references begins where the table says (ISO 32000-1, 7.5.4). A file
/// with a stream of them instead, as cairo does not write, is not judged: true.
bool pdf_objects_are_whole(std::string_view pdf);

}  // namespace v1
}  // namespace attn
