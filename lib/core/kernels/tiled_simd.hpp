#pragma once

#include <string_view>

#include "core/tile/tile_list.hpp"

namespace attn {
inline namespace v1 {

/// The steps for the instruction set of that name, "" for the best this CPU has. Throws `usage` when there is none of that
/// name or the CPU lacks it.
const tile::TileSet& tile_set(std::string_view simd);

/// The table for one element type.
template <typename T>
const tile::TileSteps<T>& steps_of(const tile::TileSet& set);
template <>
inline const tile::TileSteps<float>& steps_of(const tile::TileSet& set) {
  return set.f32;
}
template <>
inline const tile::TileSteps<double>& steps_of(const tile::TileSet& set) {
  return set.f64;
}

}  // namespace v1
}  // namespace attn
