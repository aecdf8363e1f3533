#pragma once

#include <vector>

#include "bench/measure.hpp"

namespace attn::bench {

/// Every shape class, in the order of the table. Each case owns its arrays, made when it first runs.
std::vector<Case> all_cases(int threads);

}  // namespace attn::bench
