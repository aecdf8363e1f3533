#pragma once

#include "core/tile/tile_step.hpp"

namespace attn::tile {

/// The steps built for one instruction set.
struct TileSet {
  const char* name;
  TileSteps<float> f32;
  TileSteps<double> f64;
};

extern const TileSet kTileSse2;
extern const TileSet kTileAvx2;
extern const TileSet kTileAvx512;

/// One row of THE LIST of instruction sets.
struct TileChoice {
  const TileSet* set;
  bool (*runs)();    ///< whether this CPU has it
  bool only_forced;  ///< never chosen by itself: not yet proved on such a CPU
};

/// Best first; ends with a row whose set is null.
const TileChoice* tile_choices();

/// The set of that name, or for a null or empty name the best that may be chosen by itself. Null if there is none of
/// that name or this CPU cannot run it.
const TileSet* find_tile_set(const char* name, Size length);

}  // namespace attn::tile
