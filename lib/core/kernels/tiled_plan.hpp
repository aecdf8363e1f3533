#pragma once

#include <vector>

#include "core/kernels/kernel.hpp"
#include "core/kernels/tiled_simd.hpp"

namespace attn {
inline namespace v1 {

/// Keys are worked on in blocks that begin at multiples of this, whatever a panel sees of them: a row's sums are then the
/// same wherever it stands and whoever stands beside it.
inline constexpr Index kKeyBlock = 128;
/// Ranges of keys begin at multiples of this: as many powers are added up together.
inline constexpr Index kKeyStep = 4;
/// Scratch arrays begin at multiples of this many bytes.
inline constexpr std::size_t kAlignment = 64;

/// In which unit scores are held: bits (times log2 e, folded into the queries, so that weights are powers of two) or as the
/// formula says, when the scores themselves are wanted.
enum class ScoreUnit { bits, natural };

/// What all panels of a run share.
template <typename T>
struct TiledPlan {
  TiledPlan(const KernelJob& job, const RunContext& run, ScoreUnit unit);

  const KernelJob& job;
  const RunContext& run;
  const AttentionOutputs& wanted;
  const tile::TileSteps<T>& steps;
  bool natural;
  T query_factor;  ///< queries are multiplied by it when they are packed
  T bias_factor;
  T least_bias;  ///< raised to it, a bias times the factor is finite and does not block; rows that deep are done again
  T cap_height;  ///< 0: no softcap
  T cap_shrink;
  T power_unit;      ///< scores times this are in bits
  Index stretch;     ///< so many keys are summed by themselves before they are merged with those before
  bool all_careful;  ///< a scale that T cannot hold: every row goes through the definition

  /// Whether weighted sums of the values are wanted.
  bool sums_values() const { return wanted.output.has_value() && job.sizes.value_size > 0; }
  Index width() const { return steps.vector_lanes; }
  Index value_size() const { return sums_values() ? job.sizes.value_size : 0; }
  /// The sink of a head in the unit of the scores; -inf without one.
  T sink(Index head) const;
  /// Whether results from such a maximum are near the end of the precision, where a bias may have become an infinity by
  /// its unit.
  bool deep(T maximum) const;
  /// Natural log-sum-exp from a running maximum and total.
  T log_sum_exp(T maximum, T total) const;
  /// Whether a row of queries is so small that its packed numbers lose digits.
  bool loses_digits(T peak) const;
};

/// Some queries side by side in the lanes of vectors.
struct PanelPlace {
  Range queries;
  Index lanes = 0;  ///< a multiple of the vector width
};

/// Cuts n queries into panels of at most `vectors` vectors, so that few lanes stay idle.
std::vector<PanelPlace> lay_panels(Index n, Index width, Index vectors);

/// Cuts arrays from one piece of scratch memory; first counts, then hands out.
class Carver {
 public:
  explicit Carver(std::byte* memory) : memory_(memory) {}

  template <typename T>
  T* take(Index count) {
    const std::size_t at = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return memory_ ? reinterpret_cast<T*>(memory_ + at) : nullptr;
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

}  // namespace v1
}  // namespace attn
