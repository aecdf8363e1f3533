#include "core/kernels/score_overflow.hpp"

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {

void refuse_score(const KernelJob& job, const ScorePlace& at) {
  const AttentionSizes& sizes = job.sizes;
  fail(ErrorKind::mismatch, "the score of query ", at.query, " and key ", at.key,
       sizes.heads > 1 ? concat(" in head ", at.head) : "", sizes.batch > 1 ? concat(" of batch item ", at.batch) : "",
       " overflows: scale times their product is beyond ", dtype_name(job.dtype()),
       job.dtype() == DType::f32 ? " (3.4e38); --precision float64 reaches further" : " (1.8e308)");
}

}  // namespace v1
}  // namespace attn
