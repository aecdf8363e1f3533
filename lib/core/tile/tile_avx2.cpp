#include "core/tile/body/steps.hpp"
#include "core/tile/tile_list.hpp"

namespace attn::tile {

constinit const TileSet kTileAvx2 = {"avx2", make_steps<float, xsimd::fma3<xsimd::avx2>>(),
                                     make_steps<double, xsimd::fma3<xsimd::avx2>>()};

}  // namespace attn::tile
