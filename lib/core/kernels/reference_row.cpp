#include "core/kernels/reference_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include "core/kernels/score_overflow.hpp"
#include "core/precision.hpp"
#include "core/summation.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

template <typename T>
bool all_finite(const T* row, Index count) {
  return std::all_of(row, row + count, [](T value) { return std::isfinite(value); });
}

using Length = std::array<std::size_t, 1>;
using Cells = decltype(xt::adapt(std::declval<std::vector<double>&>(), Length{}));
using Flags = decltype(xt::adapt(std::declval<std::vector<std::uint8_t>&>(), Length{}));

/// A buffer as a tensor of rank 1 for the passes below.
Cells cells(std::vector<double>& row) { return xt::adapt(row, Length{row.size()}); }
Flags flags(std::vector<std::uint8_t>& row) { return xt::adapt(row, Length{row.size()}); }

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

template <typename T>
ReferenceRow<T>::ReferenceRow(const KernelJob& job)
    : job_(job),
      allowed_(index(job.sizes.keys), 1),
      raw_(index(job.sizes.keys)),
      capped_(raw_),
      bias_(raw_),
      masked_(raw_),
      weights_(raw_),
      sum_(index(job.sizes.value_size)),
      error_(sum_) {}

template <typename T>
std::size_t ReferenceRow<T>::bytes(const AttentionSizes& sizes) {
  return static_cast<std::size_t>(sizes.keys) * (5 * sizeof(double) + 1) +
         static_cast<std::size_t>(sizes.value_size) * 2 * sizeof(double);
}

template <typename T>
void ReferenceRow<T>::compute_weights(Index batch, Index head, Index query, bool show_blocked) {
  batch_ = batch, head_ = head, query_ = query;
  const Range all_keys{0, job_.sizes.keys};
  job_.masks->allowed(batch, head, query, all_keys, allowed_.data());
  if (job_.masks->biases()) job_.masks->bias(batch, head, query, all_keys, bias_.data());
  score(show_blocked);
  cap();
  mask();
  soften();
}

template <typename T>
void ReferenceRow<T>::score(bool show_blocked) {
  const Index kv_head = job_.kv_head(head_), d = job_.sizes.head_size;
  const T* const query = job_.query.row<T>(batch_, head_, query_);
  for (Index j = 0; j < job_.sizes.keys; ++j) {
    const bool allowed = allowed_[index(j)];
    if (!allowed && !show_blocked) continue;
    const T* const key = job_.key.row<T>(batch_, kv_head, j);
    raw_[index(j)] = scaled_score(query, key, d, job_.scale);
    if (allowed && !fits<T>(raw_[index(j)]) && all_finite(query, d) && all_finite(key, d))
      refuse_score(job_, {batch_, head_, query_, j});
  }
}

template <typename T>
void ReferenceRow<T>::cap() {
  const double C = job_.softcap;
  const Cells raw = cells(raw_);
  Cells capped = cells(capped_);
  if (C > 0)
    xt::noalias(capped) = C * xt::tanh(raw / C);
  else
    xt::noalias(capped) = raw;
}

template <typename T>
void ReferenceRow<T>::mask() {
  const Cells capped = cells(capped_);
  const Flags allowed = flags(allowed_);
  Cells biased = cells(bias_), masked = cells(masked_);
  if (!job_.masks->biases()) {
    xt::noalias(masked) = xt::where(allowed > 0, capped, -kInfinity);
    return;
  }
  xt::noalias(biased) = capped + biased;
  // A score and a bias may each be near the largest double; only a minus infinity that was given may block.
  if (!job_.allow_nonfinite) xt::noalias(biased) = xt::clip(biased, -kLargest, kLargest);
  xt::noalias(masked) = xt::where(allowed > 0, biased, -kInfinity);
}

template <typename T>
void ReferenceRow<T>::soften() {
  const double sink = job_.sinks.empty() ? -kInfinity : job_.sinks[index(head_)];
  // The maximum cancels in the ratio but keeps exp() from overflowing.
  maximum_ = sink;
  for (const double score : masked_) maximum_ = std::max(maximum_, score);

  const Cells masked = cells(masked_);
  const Flags allowed = flags(allowed_);
  Cells weights = cells(weights_);
  xt::noalias(weights) = xt::where(allowed > 0, xt::exp(masked - maximum_), 0.0);
  CompensatedSum total;
  for (const double weight : weights_) total.add(weight);
  if (sink > -kInfinity) total.add(std::exp(sink - maximum_));
  total_ = total.value();

  const bool empty = std::find(allowed_.begin(), allowed_.end(), 1) == allowed_.end();
  if (!empty)
    weights /= total_;
  else if (job_.empty_rows == EmptyRows::nan)
    weights.fill(std::numeric_limits<double>::quiet_NaN());
}

template <typename T>
double ReferenceRow<T>::log_sum_exp() const {
  return maximum_ == -kInfinity && total_ == 0 ? -kInfinity : maximum_ + std::log(total_);
}

template <typename T>
void ReferenceRow<T>::compute_output(T* output) {
  const Index kv_head = job_.kv_head(head_), v = job_.sizes.value_size;
  std::fill(sum_.begin(), sum_.end(), 0.0);
  std::fill(error_.begin(), error_.end(), 0.0);
  for (Index j = 0; j < job_.sizes.keys; ++j)
    if (allowed_[index(j)]) add_value(weights_[index(j)], job_.value.row<T>(batch_, kv_head, j));

  const bool empty = std::find(allowed_.begin(), allowed_.end(), 1) == allowed_.end();
  for (Index c = 0; c < v; ++c) {
    const double sum = sum_[index(c)];
    output[c] = saturate_to<T>(std::isfinite(sum) ? sum + error_[index(c)] : weighted_value(c));
    if (empty && job_.empty_rows == EmptyRows::nan) output[c] = std::numeric_limits<T>::quiet_NaN();
  }
}

/// A compensated sum for each column (see CompensatedSum), written out so that columns go side by side.
template <typename T>
void ReferenceRow<T>::add_value(double weight, const T* value) {
  double* const sum = sum_.data();
  double* const error = error_.data();
  for (Index c = 0; c < job_.sizes.value_size; ++c) {
    const double addend = weight * static_cast<double>(value[c]);
    const double next = sum[c] + addend;
    const double kept = next - sum[c];
    error[c] += (sum[c] - (next - kept)) + (addend - kept);
    sum[c] = next;
  }
}

/// One column of pass 5 again, in long double: partial sums of values near the largest double may overflow though the
/// result, a weighted mean, does not.
template <typename T>
double ReferenceRow<T>::weighted_value(Index column) const {
  const Index kv_head = job_.kv_head(head_);
  long double sum = 0;
  for (Index j = 0; j < job_.sizes.keys; ++j)
    if (allowed_[index(j)])
      sum +=
          static_cast<long double>(weights_[index(j)]) * static_cast<long double>(job_.value.row<T>(batch_, kv_head, j)[column]);
  return saturate_to<double>(sum);
}

template class ReferenceRow<float>;
template class ReferenceRow<double>;

}  // namespace v1
}  // namespace attn
