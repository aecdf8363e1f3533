#include "core/kernels/tiled_simd.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/core/attention.hpp"

namespace attn {
inline namespace v1 {

const tile::TileSet& tile_set(std::string_view simd) {
  const tile::TileSet* set = tile::find_tile_set(simd.data(), static_cast<tile::Size>(simd.size()));
  if (set) return *set;
  std::string known;
  for (const std::string& name : simd_names())
    if (simd_runs(name)) known += concat(known.empty() ? "" : ", ", name);
  const std::vector<std::string> names = simd_names();
  const bool exists = std::find(names.begin(), names.end(), simd) != names.end();
  fail_with_hint(ErrorKind::usage, exists ? std::string() : did_you_mean(simd, names),
                 "this CPU does not run the instruction set '", printable(simd, 40), "'; it runs ", known);
}

std::vector<std::string> simd_names() {
  std::vector<std::string> names;
  for (const tile::TileChoice* choice = tile::tile_choices(); choice->set; ++choice) names.emplace_back(choice->set->name);
  return names;
}

std::string best_simd() { return tile_set({}).name; }

bool simd_runs(const std::string& name) {
  return !name.empty() && tile::find_tile_set(name.data(), static_cast<tile::Size>(name.size())) != nullptr;
}

}  // namespace v1
}  // namespace attn
