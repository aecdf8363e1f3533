#pragma once

#include <span>

namespace attn {
inline namespace v1 {

struct WidthRange {
  char32_t first, last;
};

/// Code points that take two cells of a terminal (East Asian width W or F), sorted.
std::span<const WidthRange> wide_ranges();
/// Code points that take none (marks and format characters), sorted.
std::span<const WidthRange> zero_width_ranges();

}  // namespace v1
}  // namespace attn
