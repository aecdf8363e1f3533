#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/prepare.hpp"
#include "attn/core/projection.hpp"

namespace attn::app {

/// The weights and biases of a run, in the roles of the paper, whether given packed or one by one.
class Projections {
 public:
  /// `kv_heads` unset: as many as heads. Throws `mismatch` for shapes that cannot be weights or biases.
  Projections(const ComputeRequest& request, const Sources& sources);

  /// query, key or value after its linear layer; the source itself where there is none.
  Tensor apply(Input role, const Source& source, const AttentionOptions& options, const RunContext& run) const;
  /// W_O and b_O as one layer, which reads `bias`; nothing if there is none.
  std::optional<Projection> output_layer(Index merged_width, std::shared_ptr<const Array>& bias,
                                         const MemoryBudget& budget) const;
  /// Notes on weights whose orientation is a guess.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// One linear layer, before the width of its input is known.
  struct Layer {
    const Source* weight = nullptr;
    const Source* bias = nullptr;
    WeightLayout layout = WeightLayout::in_out;
    Range weight_part;  ///< outputs of a packed weight
    Range bias_part;    ///< of a packed bias
  };

  WeightLayout layout_of(const Source& weight);
  Layer layer_of(Input weight, Input bias);
  void split_packed(const ComputeRequest& request, const Sources& sources);
  void split_packed_bias(const Sources& sources);
  Projection projection_of(const Layer& layer, Index width, Array& bias, const MemoryBudget& budget) const;
  const Layer& layer(Input role) const;

  const Sources& sources_;
  std::optional<WeightLayout> wanted_layout_;
  Layer query_, key_, value_, output_;
  std::vector<std::string> notes_;
};

}  // namespace attn::app
