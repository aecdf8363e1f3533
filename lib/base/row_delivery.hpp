#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "attn/base/row_sink.hpp"

namespace attn {

/// Brings row blocks that are finished by many threads to a sink in order. A block's `sequence` counts blocks from 0
/// without gaps and rises with the row number. A worker whose turn has not come waits; since tasks are claimed in
/// rising order, the worker whose turn it is never waits, so there is no deadlock.
class RowDelivery {
 public:
  explicit RowDelivery(std::vector<RowSink*> sinks) : sinks_(std::move(sinks)) {}

  /// Encodes on the calling thread, waits for its turn, appends. `scratch` is the worker's own.
  void deliver(Index sequence, const RowBlock& rows, std::vector<std::string>& scratch);
  /// After a failure: lets all waiting workers return by throwing, so that the run can end.
  void cancel();

 private:
  std::vector<RowSink*> sinks_;
  std::mutex mutex_;
  std::condition_variable turn_;
  Index next_ = 0;
  bool cancelled_ = false;
};

}  // namespace attn
