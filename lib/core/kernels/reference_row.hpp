#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// Everything that is known of one query row, in double whatever the precision T of the inputs. One per worker.
///
///   query [n,d], key [m,d], value [m,v] of one batch item and head; for query i and every key j that it may see:
///   1. raw[j]     = scale · Σ_c query[i,c]·key[j,c]
///   2. capped[j]  = C · tanh(raw[j] / C)                       with a softcap C
///   3. masked[j]  = capped[j] + bias[j]                        -inf for the other keys
///   4. weights[j] = exp(masked[j] - max) / (Σ_j exp(masked[j] - max) + exp(sink - max))    0 for the other keys
///   5. output[c]  = Σ_j weights[j]·value[j,c]
///
/// Other keys and their values are never read into a sum: whatever stands there cannot reach a result.
template <typename T>
class ReferenceRow {
 public:
  using Row = std::vector<double>;

  explicit ReferenceRow(const KernelJob& job);

  /// Passes 1 to 4. With `show_blocked`, raw and capped hold the scores of blocked keys too, by IEEE rules.
  void compute_weights(Index batch, Index head, Index query, bool show_blocked);
  /// Pass 5, of the row computed last.
  void compute_output(T* output);

  const Row& raw() const { return raw_; }
  const Row& capped() const { return capped_; }
  const Row& masked() const { return masked_; }
  const Row& weights() const { return weights_; }
  /// Of the masked scores and the sink; -inf when there is neither.
  double log_sum_exp() const;
  /// Bytes that one worker's row needs.
  static std::size_t bytes(const AttentionSizes& sizes);

 private:
  void score(bool show_blocked);  // pass 1
  void cap();                     // pass 2
  void mask();                    // pass 3
  void soften();                  // pass 4
  void add_value(double weight, const T* value);
  double weighted_value(Index column) const;

  const KernelJob& job_;
  Index batch_ = 0, head_ = 0, query_ = 0;
  std::vector<std::uint8_t> allowed_;           // [m]
  Row raw_, capped_, bias_, masked_, weights_;  // [m]
  Row sum_, error_;                             // [v]
  double maximum_ = 0, total_ = 0;              // of pass 4
};

}  // namespace v1
}  // namespace attn
