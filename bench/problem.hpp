#pragma once

#include <memory>
#include <string>

#include "attn/core/attention.hpp"

namespace attn::bench {

/// Sizes and options of one attention run on random numbers.
struct Shape4 {
  Index batch = 1, heads = 8, kv_heads = 8, queries = 2048, keys = 2048, head_size = 64;
  DType dtype = DType::f32;
};

/// Inputs, uniform in ±1.7, and room for the results.
class Problem {
 public:
  explicit Problem(const Shape4& shape);

  /// A mask array [n,m] of small numbers (add) or of 0 and 1 (keep).
  void add_mask(MaskKind kind, double density);
  /// Weights go to memory: fresh pages every time, or always the same.
  void want_weights(bool fresh);
  void run(int threads);
  void renew();
  /// The largest error of some rows of the output, as a fraction of Σ p·|v|, against double sums.
  double error_of_samples() const;

  AttentionInputs inputs;
  AttentionOptions options;
  const void* keys_and_values() const { return cache_.bytes.data(); }
  std::size_t cache_bytes() const { return cache_.bytes.size(); }

 private:
  class MemorySink;

  Shape4 shape_;
  Array query_, cache_, output_, mask_;
  std::shared_ptr<MemorySink> weights_;
  bool fresh_ = false;
};

}  // namespace attn::bench
