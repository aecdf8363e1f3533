#include "core/tile/body/steps.hpp"
#include "core/tile/tile_list.hpp"

namespace attn::tile {

constinit const TileSet kTileSse2 = {"sse2", make_steps<float, xsimd::sse2>(), make_steps<double, xsimd::sse2>()};

}  // namespace attn::tile
