#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/command.hpp"

namespace attn::app {

/// One of `count` parts of a manifest.
struct Shard {
  std::uint64_t index = 0, count = 1;
  std::string source = {};  ///< "SLURM_ARRAY_TASK_ID" or where else it came from; empty: not asked for

  bool takes(std::uint64_t hash) const { return hash % count == index; }
};

/// --shard, else what a scheduler says of this task in its environment, else everything. Throws Error{usage} for values
/// that name no shard: to guess would leave jobs out or do them twice.
Shard chosen_shard(const Words& words);

}  // namespace attn::app
