#pragma once

#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "attn/base/row_sink.hpp"

namespace attn {
inline namespace v1 {

/// Thrown by a worker that waits for a block which will never come; parallel_for prefers the failure that caused it.
class DeliveryCancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "rows before these could not be delivered"; }
};

/// Brings row blocks that are finished by many threads to a sink in order. A block's `sequence` counts blocks from 0
/// without gaps and rises with the row number. A worker whose turn has not come waits; since tasks are claimed in
/// rising order, the worker whose turn it is never waits, so there is no deadlock.
class RowDelivery {
 public:
  explicit RowDelivery(std::vector<RowSink*> sinks) : sinks_(std::move(sinks)) {}

  /// Encodes on the calling thread, waits for its turn, appends. `scratch` is the worker's own. When a sink throws,
  /// the blocks behind are cancelled by itself.
  void deliver(Index sequence, const RowBlock& rows, std::vector<std::string>& scratch);
  /// After a failure to make block `sequence`: workers that wait with later blocks return by throwing
  /// DeliveryCancelled; those with earlier blocks still deliver, so that the first failure does not depend on timing.
  void cancel(Index sequence);
  /// Lets all waiting workers return by throwing.
  void cancel() { cancel(-1); }

 private:
  void encode_and_append(Index sequence, const RowBlock& rows, std::vector<std::string>& scratch);

  std::vector<RowSink*> sinks_;
  std::mutex mutex_;
  std::condition_variable turn_;
  Index next_ = 0;
  Index failed_ = std::numeric_limits<Index>::max();  // lowest block that will never be delivered
};

}  // namespace v1
}  // namespace attn
