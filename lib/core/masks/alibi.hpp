#pragma once

#include <vector>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// One slope for each head: 2^(-8k/heads), k = 1, 2, ...; when the heads are no power of two, those of the lower power,
/// then every other one of the next.
std::vector<double> alibi_slopes(Index heads);

}  // namespace v1
}  // namespace attn
