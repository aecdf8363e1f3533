#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compute_job.hpp"
#include "app/console.hpp"
#include "attn/base/row_sink.hpp"

namespace attn::app {

/// Rows of an array kept in memory as doubles.
class KeptRows : public RowSink {
 public:
  void encode(const RowBlock& /*rows*/, std::string& /*encoded*/) const override {}
  void append(const RowBlock& rows, std::string_view encoded) override;
  void finish() override {}

  const double* row(Index r) const { return values_.data() + r * columns_; }
  Index columns() const { return columns_; }

 private:
  std::vector<double> values_;
  Index columns_ = 0;
};

/// Every stage of one run, as attention itself computes them. Rows are numbered (batch · H + head) · n + query.
struct AttentionSteps {
  AttentionReport report;
  KeptRows products;  ///< Q Kᵀ, not yet scaled
  KeptRows scaled;    ///< times the scale
  KeptRows capped;    ///< with a softcap only
  KeptRows masked;    ///< biases added, blocked keys -inf
  KeptRows weights;
  std::optional<Array> output;     ///< [B,n,H·v] or [n,H·v]: the heads side by side
  std::optional<Array> projected;  ///< after W_O

  /// The softmax of one row, step by step.
  struct RowSoftmax {
    double maximum = 0;  ///< of the allowed keys and the sink; -inf for an empty row
    std::vector<double> exponentials;
    double sink = 0;  ///< its exponential, 0 without
    double sum = 0;
  };
  RowSoftmax softmax(Index row, std::optional<double> sink) const;
};

AttentionSteps compute_steps(const Prepared& prepared, const RunContext& run);

}  // namespace attn::app
