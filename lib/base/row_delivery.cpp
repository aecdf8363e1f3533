#include "base/row_delivery.hpp"

namespace attn {
inline namespace v1 {

void RowDelivery::deliver(Index sequence, const RowBlock& rows, std::vector<std::string>& scratch) {
  try {
    encode_and_append(sequence, rows, scratch);
  } catch (...) {
    cancel(sequence);
    throw;
  }
}

void RowDelivery::encode_and_append(Index sequence, const RowBlock& rows, std::vector<std::string>& scratch) {
  scratch.resize(sinks_.size());
  for (std::size_t i = 0; i < sinks_.size(); ++i) {
    scratch[i].clear();
    sinks_[i]->encode(rows, scratch[i]);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  turn_.wait(lock, [&] { return next_ == sequence || sequence > failed_; });
  if (sequence > failed_) throw DeliveryCancelled();
  // The lock is held while appending: the turn is this block's, and the others could only wait anyway.
  for (std::size_t i = 0; i < sinks_.size(); ++i) sinks_[i]->append(rows, scratch[i]);
  ++next_;
  turn_.notify_all();
}

void RowDelivery::cancel(Index sequence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sequence < failed_) failed_ = sequence;
  turn_.notify_all();
}

}  // namespace v1
}  // namespace attn
