#include "core/tile/body/steps.hpp"
#include "core/tile/tile_list.hpp"

namespace attn::tile {

constinit const TileSet kTileAvx512 = {"avx512", make_steps<float, xsimd::avx512bw>(), make_steps<double, xsimd::avx512bw>()};

}  // namespace attn::tile
