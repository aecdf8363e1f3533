#pragma once

#include <vector>

#include "core/kernels/kernel.hpp"

namespace attn {
inline namespace v1 {

/// What is done with one head during a sweep.
struct HeadWork {
  Index head = 0;
  Index place = -1;   ///< where its weights are written among the chosen heads; -1: nowhere
  bool rest = false;  ///< its output and log-sum-exp are written, where they are wanted
};

/// One pass over all queries in the order in which rows are delivered: batch items, then groups of heads, then panels of
/// queries; the heads of a group are done together for each panel.
struct Sweep {
  std::vector<std::vector<HeadWork>> groups;
  bool scores = false;   ///< rows of scores are delivered, of every head in order
  bool weights = false;  ///< rows of weights are delivered
  bool reduced = false;  ///< as one row for the heads of a group
};

/// One sweep; two when scores and weights are wanted in orders that differ.
std::vector<Sweep> plan_sweeps(const AttentionOutputs& wanted, Index heads);

}  // namespace v1
}  // namespace attn
