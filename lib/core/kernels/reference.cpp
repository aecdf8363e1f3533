#include "core/kernels/reference.hpp"

#include <algorithm>
#include <memory>

#include "base/row_delivery.hpp"
#include "core/heads.hpp"
#include "core/kernels/counted_tasks.hpp"
#include "core/kernels/reference_row.hpp"
#include "core/precision.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// A block of rows is filled and then delivered; about a quarter of a megabyte, at least one row.
Index rows_at_once(const AttentionSizes& sizes) {
  return std::clamp<Index>((Index{1} << 15) / std::max<Index>(sizes.keys, 1), 1, 64);
}

/// Some queries of one batch item and one place among the heads that are written.
struct RowTask {
  Index batch = 0;
  Index place = 0;
  Range queries;
  Index first_row = 0;  // (batch · places + place) · n + first query
};

/// What one worker owns.
template <typename T>
struct Worker {
  Worker(const KernelJob& job, const RunContext& run, Index rows, Reduce reduce)
      : row(job), reduction(reduce, job.sizes.keys), weights(block(job, run, rows)), scores(block(job, run, rows)) {}

  static Buffer block(const KernelJob& job, const RunContext& run, Index rows) {
    return run.budget.allocate(static_cast<std::size_t>(rows) * static_cast<std::size_t>(job.sizes.keys) * sizeof(T),
                               "rows of weights");
  }

  ReferenceRow<T> row;
  HeadReduction reduction;
  Buffer weights, scores;  // [rows, m] of T
  std::vector<std::string> scratch;
};

template <typename T>
class ReferenceRun {
 public:
  ReferenceRun(const KernelJob& job, const RunContext& run)
      : job_(job),
        wanted_(*job.outputs),
        run_(run),
        rows_(rows_at_once(job.sizes)),
        heads_(chosen_heads(wanted_.weights.heads, job.sizes.heads)),
        scores_(wanted_.scores),
        weights_(wanted_.weights.sinks) {
    // Rows of weights come with the rest when they are those of all heads, in order.
    weights_with_rest_ = wanted_.weights.reduce == Reduce::none && heads_ == chosen_heads({}, job.sizes.heads);
  }

  /// One sweep over all heads, and one more over the heads whose weights are written in another order.
  void run() {
    const bool weights = !wanted_.weights.sinks.empty();
    const bool rest = !wanted_.scores.empty() || wanted_.output || wanted_.lse;
    const bool reduced = wanted_.weights.reduce != Reduce::none;
    const Index chosen = reduced ? 1 : static_cast<Index>(heads_.size());
    const bool first_sweep = rest || (weights && weights_with_rest_);
    const bool second_sweep = weights && !weights_with_rest_;
    CountedTasks counted(run_, (first_sweep ? tasks(job_.sizes.heads) : 0) + (second_sweep ? tasks(chosen) : 0));
    if (first_sweep) sweep(counted, job_.sizes.heads, [this](Worker<T>& w, const RowTask& t, Index s) { every_head(w, t, s); });
    if (second_sweep && reduced)
      sweep(counted, chosen, [this](Worker<T>& w, const RowTask& t, Index s) { reduced_heads(w, t, s); });
    if (second_sweep && !reduced)
      sweep(counted, chosen, [this](Worker<T>& w, const RowTask& t, Index s) { chosen_head(w, t, s); });
  }

 private:
  Index blocks() const { return (job_.sizes.queries + rows_ - 1) / rows_; }
  Index tasks(Index places) const { return job_.sizes.batch * places * blocks(); }

  RowTask task(Index number, Index places) const {
    const Index n = job_.sizes.queries, begin = number % blocks() * rows_, plane = number / blocks();
    return {plane / places, plane % places, {begin, std::min(begin + rows_, n)}, plane * n + begin};
  }

  /// Tasks in the order of their rows; a failed one cancels the deliveries behind it.
  template <typename Work>
  void sweep(CountedTasks& counted, Index places, const Work& work) {
    const int threads = static_cast<int>(std::clamp<Index>(tasks(places), 1, run_.threads));
    run_.budget.require(static_cast<std::size_t>(threads) * ReferenceRow<T>::bytes(job_.sizes), "rows of the reference kernel");
    std::vector<std::unique_ptr<Worker<T>>> workers;
    for (int i = 0; i < threads; ++i) workers.push_back(std::make_unique<Worker<T>>(job_, run_, rows_, wanted_.weights.reduce));
    counted.run(tasks(places), [&](Index number, int worker) {
      try {
        work(*workers[static_cast<std::size_t>(worker)], task(number, places), number);
      } catch (...) {
        scores_.cancel(number);
        weights_.cancel(number);
        throw;
      }
    });
  }

  void every_head(Worker<T>& worker, const RowTask& task, Index sequence) {
    const bool scores = !wanted_.scores.empty();
    const bool weights = weights_with_rest_ && !wanted_.weights.sinks.empty();
    for (Index i = task.queries.begin; i < task.queries.end; ++i) {
      worker.row.compute_weights(task.batch, task.place, i, scores && wanted_.stage != Stage::masked);
      if (scores) copy_scores(worker, i - task.queries.begin);
      if (weights) copy_row(worker.row.weights().data(), worker.weights, i - task.queries.begin);
      if (wanted_.output) worker.row.compute_output(wanted_.output->row<T>(task.batch, task.place, i));
      if (wanted_.lse) *wanted_.lse->row<T>(task.batch, task.place, i) = saturate_to<T>(worker.row.log_sum_exp());
    }
    if (scores) scores_.deliver(sequence, rows_of(task, worker.scores), worker.scratch);
    if (weights) weights_.deliver(sequence, rows_of(task, worker.weights), worker.scratch);
  }

  void chosen_head(Worker<T>& worker, const RowTask& task, Index sequence) {
    for (Index i = task.queries.begin; i < task.queries.end; ++i) {
      worker.row.compute_weights(task.batch, heads_[static_cast<std::size_t>(task.place)], i, false);
      copy_row(worker.row.weights().data(), worker.weights, i - task.queries.begin);
    }
    weights_.deliver(sequence, rows_of(task, worker.weights), worker.scratch);
  }

  /// Heads inside, so that rows come in order.
  void reduced_heads(Worker<T>& worker, const RowTask& task, Index sequence) {
    for (Index i = task.queries.begin; i < task.queries.end; ++i) {
      for (const Index head : heads_) {
        worker.row.compute_weights(task.batch, head, i, false);
        worker.reduction.add(worker.row.weights().data());
      }
      copy_row(worker.reduction.finish().data(), worker.weights, i - task.queries.begin);
    }
    weights_.deliver(sequence, rows_of(task, worker.weights), worker.scratch);
  }

  RowBlock rows_of(const RowTask& task, const Buffer& block) const {
    return {task.first_row, task.queries.end - task.queries.begin, job_.sizes.keys, kDTypeOf<T>, block.data(), job_.sizes.keys};
  }

  void copy_row(const double* from, Buffer& block, Index row) const {
    T* const to = reinterpret_cast<T*>(block.data()) + row * job_.sizes.keys;
    for (Index j = 0; j < job_.sizes.keys; ++j) to[j] = static_cast<T>(from[j]);
  }

  void copy_scores(Worker<T>& worker, Index row) const {
    if (wanted_.stage == Stage::raw) return copy_row(worker.row.raw().data(), worker.scores, row);
    if (wanted_.stage == Stage::capped) return copy_row(worker.row.capped().data(), worker.scores, row);
    // A finite score never looks like a blocked one.
    T* const to = reinterpret_cast<T*>(worker.scores.data()) + row * job_.sizes.keys;
    for (Index j = 0; j < job_.sizes.keys; ++j) to[j] = saturate_to<T>(worker.row.masked().data()[j]);
  }

  const KernelJob& job_;
  const AttentionOutputs& wanted_;
  const RunContext& run_;
  Index rows_;
  std::vector<Index> heads_;
  bool weights_with_rest_ = false;
  RowDelivery scores_, weights_;
};

}  // namespace

bool reference_supports(const KernelJob&) { return true; }

void run_reference(const KernelJob& job, const RunContext& run) {
  if (job.sizes.queries == 0) return;
  if (job.dtype() == DType::f32)
    ReferenceRun<float>(job, run).run();
  else
    ReferenceRun<double>(job, run).run();
}

}  // namespace v1
}  // namespace attn
