#pragma once

#include <set>
#include <string>
#include <vector>

namespace attn {

/// Notes on characters that no installed font has, by the Debian package of a font that has them.
std::vector<std::string> missing_glyph_notes(const std::set<char32_t>& missing);

}  // namespace attn
