#pragma once

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// One score: query and key of a head of a batch item.
struct ScorePlace {
  Index batch, head, query, key;
};

/// Ends the run with `mismatch`: the scaled score of two finite rows is beyond the precision.
[[noreturn]] void refuse_score(const KernelJob& job, const ScorePlace& at);

}  // namespace v1
}  // namespace attn
