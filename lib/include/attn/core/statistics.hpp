#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// Running figures of all numbers of an array; feed it in any number of pieces.
struct ValueStatistics {
  Index count = 0;     ///< finite values
  Index nan = 0;       ///< values that are NaN
  Index infinite = 0;  ///< values that are infinite
  double minimum = 0;  ///< of the finite values; meaningless when count is 0
  double maximum = 0;  ///< the same
  /// Of the finite values, 0 when there is none.
  double mean() const;

  double sum = 0;  ///< compensated
  double correction = 0;
  double small_sum = 0;  ///< of 2^-64 times the values, for when their sum overflows

  /// Takes the next values in.
  void add(const double* values, Index how_many);
};

/// One row of weights: its sum, its entropy in nats (0·log 0 = 0), its strongest keys (largest first, ties by index).
struct WeightRow {
  double sum = 0;
  double entropy = 0;
  std::vector<std::pair<Index, double>> strongest;
};
/// Of `keys` weights; at most `top` of the strongest.
WeightRow weight_row(const double* weights, Index keys, Index top);

/// How two arrays of one shape differ; `reference` is the second. Feed it in pieces, in order.
struct Difference {
  Index count = 0;    ///< pairs compared
  Index outside = 0;  ///< pairs with |a-b| > atol + rtol·|b|, or NaN/infinity in other places
  double max_absolute = 0;
  Index max_absolute_at = -1;  ///< flat index
  double max_relative = 0;     ///< |a-b| / |b|, over b != 0
  Index max_relative_at = -1;
  double sum_absolute = 0;
  double dot = 0, norm_a = 0, norm_b = 0;  ///< for the cosine, in units of unit_a·unit_b, unit_a², unit_b²
  double unit_a = 0, unit_b = 0;           ///< powers of two not below the largest numbers
  double worst_row_sum = 0;                ///< largest |row sum of a - row sum of b|
  Index worst_row = -1;

  /// Mean of |a-b| over the pairs, NaN and infinities counted as 0.
  double mean_absolute() const { return count ? sum_absolute / static_cast<double>(count) : 0; }
  double cosine() const;  ///< 1 when both are all zero
  /// Whether every pair is within the tolerances.
  bool same() const { return outside == 0; }

  /// One row of `columns` numbers of each side.
  void add_row(const double* a, const double* reference, Index columns, double atol, double rtol);
  Index rows_seen = 0;  ///< rows taken in

 private:
  void add_products(const double* a, const double* reference, Index columns);
};

}  // namespace v1
}  // namespace attn
