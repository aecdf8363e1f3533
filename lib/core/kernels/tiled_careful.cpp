#include "core/kernels/tiled_careful.hpp"

#include "core/precision.hpp"

namespace attn {
inline namespace v1 {

template <typename T>
void CarefulRows<T>::write_output(Index batch, Index head, Index query) {
  if (plan_.sums_values()) row_->compute_output(plan_.wanted.output->template row<T>(batch, head, query));
}

template <typename T>
void CarefulRows<T>::write_log_sum_exp(Index batch, Index head, Index query) {
  if (plan_.wanted.lse) *plan_.wanted.lse->template row<T>(batch, head, query) = saturate_to<T>(row_->log_sum_exp());
}

template class CarefulRows<float>;
template class CarefulRows<double>;

}  // namespace v1
}  // namespace attn
