#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/compute_job.hpp"
#include "app/console.hpp"
#include "attn/base/row_sink.hpp"

namespace attn::app {

/// Rows of scores or weights kept in memory as doubles: all of them, or those of one query.
class KeptRows : public RowSink {
 public:
  KeptRows(Index queries, std::optional<Index> only) : queries_(queries), only_(only) {}

  void encode(const RowBlock& /*rows*/, std::string& /*encoded*/) const override {}
  void append(const RowBlock& rows, std::string_view encoded) override;
  void finish() override {}

  /// By its number in the whole array.
  const double* row(Index r) const { return values_.data() + (only_ ? r / queries_ : r) * columns_; }
  Index columns() const { return columns_; }

 private:
  Index queries_;
  std::optional<Index> only_;
  std::vector<double> values_;
  Index columns_ = 0;
};

/// Every stage of one run, as attention itself computes them. Rows are numbered (batch · H + head) · n + query.
struct AttentionSteps {
  AttentionSteps(Index queries, std::optional<Index> only)
      : products(queries, only), scaled(queries, only), capped(queries, only), masked(queries, only), weights(queries, only) {}

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

/// `only` is the one query whose scores and weights are kept; unset: all are.
AttentionSteps compute_steps(const Prepared& prepared, std::optional<Index> only, const RunContext& run);

/// Visits the chosen heads of every batch item, in order.
void for_each_head(const ComputeJob& job, const std::function<void(Index batch, Index head)>& visit);

}  // namespace attn::app
