#pragma once

#include <string>

#include "app/console.hpp"
#include "app/explain_steps.hpp"

namespace attn::app {

/// Prints every step of the chosen heads as tables; then, for several heads, how they are merged.
void print_steps(const ComputeJob& job, const AttentionSteps& steps, Console& console);

/// Prints how one weight comes about: the dot product of query `query` and key `key` term by term, then each step.
void print_product(const ComputeJob& job, const AttentionSteps& steps, Index query, Index key, Console& console);

}  // namespace attn::app
