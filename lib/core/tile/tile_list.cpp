#include "core/tile/tile_list.hpp"

#include <cstring>

namespace attn::tile {
namespace {

#if defined(__x86_64__)
// The builtin also asks the operating system whether it saves the wider registers.
bool runs_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
}
bool runs_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool runs_always() { return true; }

constexpr TileChoice kChoices[] = {
    {&kTileAvx512, runs_avx512, true},
    {&kTileAvx2, runs_avx2, false},
    {&kTileSse2, runs_always, false},
    {nullptr, runs_always, false},
};
#else
#error "no instruction set of this processor family is built"
#endif

}  // namespace

const TileChoice* tile_choices() { return kChoices; }

const TileSet* find_tile_set(const char* name, Size length) {
  for (const TileChoice* choice = kChoices; choice->set != nullptr; ++choice) {
    const bool meant = length == 0 ? !choice->only_forced
                                   : std::strlen(choice->set->name) == static_cast<std::size_t>(length) &&
                                         std::memcmp(choice->set->name, name, static_cast<std::size_t>(length)) == 0;
    if (meant && choice->runs()) return choice->set;
  }
  return nullptr;
}

}  // namespace attn::tile
