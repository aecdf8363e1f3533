#pragma once

#include <set>
#include <string>
#include <vector>

namespace attn {
inline namespace v1 {

/// Notes on characters that no installed font has, by the Debian package of a font that has them.
std::vector<std::string> missing_glyph_notes(const std::set<char32_t>& missing);

}  // namespace v1
}  // namespace attn
