#include "core/kernels/tiled_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/row_delivery.hpp"
#include "core/kernels/counted_tasks.hpp"
#include "core/kernels/tiled_panel.hpp"
#include "core/kernels/tiled_sweep.hpp"
#include "core/precision.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Panels are as wide as keeps their scores below this.
constexpr Index kScoreBytes = 4 * 1024 * 1024;

template <typename T>
Index panel_vectors(const AttentionSizes& sizes, Index width) {
  const Index bytes = sizes.keys * width * Index{sizeof(T)};
  return std::clamp<Index>(kScoreBytes / std::max<Index>(bytes, 1), 1, tile::kMaxVectors);
}

/// Folds rows of weights of one head after the other, number by number.
template <typename T>
void reduce_rows(Reduce reduce, bool first, const T* from, Index count, T* to) {
  if (first) {
    std::copy_n(from, count, to);
  } else if (reduce == Reduce::mean) {
    for (Index i = 0; i < count; ++i) to[i] += from[i];
  } else {
    // NaN in any head is NaN.
    const T sign = reduce == Reduce::max ? T(1) : T(-1);
    for (Index i = 0; i < count; ++i) to[i] = sign * from[i] > sign * to[i] || std::isnan(from[i]) ? from[i] : to[i];
  }
}

template <typename T>
class RowRun {
 public:
  RowRun(const KernelJob& job, const RunContext& run, const Sweep& sweep)
      : plan_(job, run, sweep.scores ? ScoreUnit::natural : ScoreUnit::bits),
        sweep_(sweep),
        panels_(lay_panels(job.sizes.queries, plan_.width(), panel_vectors<T>(job.sizes, plan_.width()))),
        scores_(sweep.scores ? plan_.wanted.scores : std::vector<RowSink*>{}),
        weights_(sweep.weights ? plan_.wanted.weights.sinks : std::vector<RowSink*>{}) {
    for (const std::vector<HeadWork>& group : sweep.groups)
      for (const HeadWork& work : group) places_ = std::max(places_, work.place + 1);
  }

  void run() {
    const Index groups = static_cast<Index>(sweep_.groups.size());
    const Index panels = static_cast<Index>(panels_.size());
    const Index tasks = plan_.job.sizes.batch * groups * panels;
    const int threads = static_cast<int>(std::clamp<Index>(tasks, 1, plan_.run.threads));
    std::vector<Worker> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(*this);
    CountedTasks(plan_.run, tasks).run(tasks, [&](Index number, int worker) {
      const Index plane = number / panels;
      const Task task{plane / groups, &sweep_.groups[static_cast<std::size_t>(plane % groups)], number % panels};
      work(workers[static_cast<std::size_t>(worker)], task);
    });
  }

 private:
  struct Task {
    Index batch;
    const std::vector<HeadWork>* group;
    Index panel;
  };

  struct Worker {
    explicit Worker(const RowRun& run) {
      Carver count(nullptr);
      lay_out(run, count);
      memory = run.plan_.run.budget.allocate(count.used(), "rows of weights in flight");
      Carver carver(memory.data());
      lay_out(run, carver);
    }
    void lay_out(const RowRun& run, Carver& carver) {
      const Index m = run.plan_.job.sizes.keys;
      const Index lanes = run.plan_.width() * tile::kMaxVectors;
      const Index most = run.plan_.width() * panel_vectors<T>(run.plan_.job.sizes, run.plan_.width());
      steps = std::make_unique<PanelWorker<T>>(run.plan_, carver);
      panel = PanelWorker<T>::carve_panel(run.plan_, carver);
      score_check = carver.take<T>(lanes);
      ones = carver.take<T>(lanes);
      if (ones) std::fill_n(ones, lanes, T(1));
      tile = carver.take<T>(m * most);
      score_rows = carver.take<T>(run.sweep_.scores ? m * most : 0);
      rows = carver.take<T>(m * most);
      reduced = carver.take<T>(run.sweep_.reduced ? m * most : 0);
    }

    Buffer memory;
    std::unique_ptr<PanelWorker<T>> steps;
    Panel<T> panel;
    T *score_check, *ones;           // [lanes]
    T* tile;                         // [m][lanes]: scores, then powers
    T *score_rows, *rows, *reduced;  // [lanes][m]
    std::vector<std::string> scratch;
  };

  Index keys() const { return plan_.job.sizes.keys; }
  bool wants_rest() const { return plan_.wanted.output || plan_.wanted.lse; }
  const PanelPlace& place_of(const Task& task) const { return panels_[static_cast<std::size_t>(task.panel)]; }

  Index score_sequence(const Task& task, Index head) const {
    return (task.batch * plan_.job.sizes.heads + head) * static_cast<Index>(panels_.size()) + task.panel;
  }
  Index weight_sequence(const Task& task, Index place) const {
    const Index plane = sweep_.reduced ? task.batch : task.batch * places_ + place;
    return plane * static_cast<Index>(panels_.size()) + task.panel;
  }

  void work(Worker& worker, const Task& task) {
    bool first = true;
    try {
      for (const HeadWork& head : *task.group) {
        compute(worker, task, head);
        if (sweep_.scores) deliver_scores(worker, task, head.head);
        if (!sweep_.weights || head.place < 0) continue;
        if (!sweep_.reduced) {
          deliver_weights(worker, task, head.place, worker.rows);
          continue;
        }
        reduce_rows(plan_.wanted.weights.reduce, first, worker.rows, worker.panel.count() * keys(), worker.reduced);
        first = false;
      }
      if (sweep_.reduced) deliver_reduced(worker, task);
    } catch (...) {
      const HeadWork& head = task.group->front();
      scores_.cancel(score_sequence(task, head.head));
      if (head.place >= 0) weights_.cancel(weight_sequence(task, head.place));
      throw;
    }
  }

  void deliver_scores(Worker& worker, const Task& task, Index head) {
    const Range queries = place_of(task).queries;
    const Index first = (task.batch * plan_.job.sizes.heads + head) * plan_.job.sizes.queries + queries.begin;
    scores_.deliver(score_sequence(task, head),
                    {first, queries.end - queries.begin, keys(), kDTypeOf<T>, worker.score_rows, keys()}, worker.scratch);
  }

  void deliver_weights(Worker& worker, const Task& task, Index place, const T* rows) {
    const Range queries = place_of(task).queries;
    const Index plane = sweep_.reduced ? task.batch : task.batch * places_ + place;
    weights_.deliver(
        weight_sequence(task, place),
        {plane * plan_.job.sizes.queries + queries.begin, queries.end - queries.begin, keys(), kDTypeOf<T>, rows, keys()},
        worker.scratch);
  }

  void deliver_reduced(Worker& worker, const Task& task) {
    if (plan_.wanted.weights.reduce == Reduce::mean) {
      const Index count = worker.panel.count() * keys();
      for (Index i = 0; i < count; ++i) worker.reduced[i] /= static_cast<T>(places_);
    }
    deliver_weights(worker, task, 0, worker.reduced);
  }

  /// Everything that is wanted of one head for the queries of the task.
  void compute(Worker& worker, const Task& task, const HeadWork& head) {
    const bool rest = head.rest && wants_rest();
    const bool weights = sweep_.weights && head.place >= 0;
    compute_panel(worker, task, head.head, rest, weights, false);
    // Values that are not finite are rare enough to begin again.
    if (rest && worker.steps->needs_guard(worker.panel)) compute_panel(worker, task, head.head, rest, weights, true);
    redo_doubtful(worker, rest, weights);
  }

  void compute_panel(Worker& worker, const Task& task, Index head, bool rest, bool weights, bool guarded) {
    Panel<T>& panel = worker.panel;
    const PanelPlace& where = place_of(task);
    worker.steps->start(panel, {task.batch, head, where.queries}, where.lanes);
    worker.steps->forget_highest();
    if (sweep_.scores)
      show_scores(worker);
    else
      for_blocks(panel.visible, [&](Range keys) { score_block(worker, keys); });
    if (rest || weights) soften(worker, rest, guarded);
    if (rest) worker.steps->unpack_output(panel);
    if (rest) worker.steps->write_log_sum_exp(panel);
    if (weights) unpack_weights(worker);
  }

  template <typename Work>
  static void for_blocks(Range keys, const Work& work) {
    for (Index at = keys.begin; at < keys.end; at = (at / kKeyBlock + 1) * kKeyBlock)
      work(Range{at, std::min((at / kKeyBlock + 1) * kKeyBlock, keys.end)});
  }

  static void block_out(Worker& worker, Range keys) {
    const Index lanes = worker.panel.lanes;
    std::fill(worker.tile + keys.begin * lanes, worker.tile + keys.end * lanes, -std::numeric_limits<T>::infinity());
  }

  /// Scores of the keys with everything on them; what nobody sees is minus infinity. `work` does one segment.
  template <typename Work>
  void settle_block(Worker& worker, Range keys, const Work& work) {
    worker.steps->mask.build(worker.panel.block, worker.panel.lanes, keys);
    Index done = keys.begin;
    for (const KeySegment<T>& segment : worker.steps->mask.segments()) {
      block_out(worker, {done, segment.keys.begin});
      work(segment, worker.tile + segment.keys.begin * worker.panel.lanes);
      done = segment.keys.end;
    }
    block_out(worker, {done, keys.end});
  }

  void score_block(Worker& worker, Range keys) {
    settle_block(worker, keys,
                 [&](const KeySegment<T>& segment, T* scores) { worker.steps->score(worker.panel, segment, scores); });
  }

  /// Scores of all keys stage by stage, the wanted one kept as rows; then as score_block() leaves them.
  void show_scores(Worker& worker) {
    Panel<T>& panel = worker.panel;
    PanelWorker<T>& steps = *worker.steps;
    std::fill_n(worker.score_check, panel.lanes, T(0));
    for_blocks({0, keys()},
               [&](Range keys) { steps.score_plainly(panel, keys, worker.tile + keys.begin * panel.lanes, worker.score_check); });
    keep_scores(worker, Stage::raw);
    if (plan_.cap_height != 0) {
      for_blocks({0, keys()}, [&](Range keys) {
        steps.settle(panel, {keys, nullptr}, true, worker.tile + keys.begin * panel.lanes, worker.score_check);
      });
      steps.forget_highest();
    }
    keep_scores(worker, Stage::capped);
    for_blocks({0, keys()}, [&](Range keys) {
      settle_block(worker, keys,
                   [&](const KeySegment<T>& segment, T* scores) { steps.settle(panel, segment, false, scores, panel.check); });
    });
    keep_scores(worker, Stage::masked);
  }

  void keep_scores(Worker& worker, Stage stage) {
    if (plan_.wanted.stage != stage) return;
    const Panel<T>& panel = worker.panel;
    plan_.steps.unpack({worker.tile, keys(), panel.lanes, worker.ones, worker.score_rows, keys(), panel.count(), nullptr});
  }

  /// Scores to powers, and their sums with the values.
  void soften(Worker& worker, bool rest, bool guarded) {
    Panel<T>& panel = worker.panel;
    PanelWorker<T>& steps = *worker.steps;
    steps.include_sink(panel);
    for_blocks(panel.visible, [&](Range keys) {
      T* const block = worker.tile + keys.begin * panel.lanes;
      if (steps.begins_stretch(panel, keys.begin)) PanelWorker<T>::fold(plan_, panel);
      steps.raise(panel, keys.end - keys.begin, block);
      if (guarded) steps.mask.build(panel.block, panel.lanes, keys);
      if (rest) steps.add_values(panel, keys, steps.mask.segments(), block, guarded);
    });
    steps.conclude(panel);
  }

  void unpack_weights(Worker& worker) {
    const Panel<T>& panel = worker.panel;
    const Range seen = panel.visible.empty() ? Range{0, 0} : panel.visible;
    for (Index lane = 0; lane < panel.count(); ++lane) {
      T* const row = worker.rows + lane * keys();
      std::fill(row, row + seen.begin, T(0));
      std::fill(row + seen.end, row + keys(), T(0));
    }
    plan_.steps.unpack({worker.tile + seen.begin * panel.lanes, seen.end - seen.begin, panel.lanes, worker.steps->factors(panel),
                        worker.rows + seen.begin, keys(), panel.count(), nullptr});
  }

  void redo_doubtful(Worker& worker, bool rest, bool weights) {
    const Panel<T>& panel = worker.panel;
    const bool show_blocked = sweep_.scores && plan_.wanted.stage != Stage::masked;
    for (Index lane = 0; lane < panel.count(); ++lane) {
      const bool whole = worker.steps->doubtful(panel, lane);
      const bool scores = sweep_.scores && (whole || (show_blocked && worker.score_check[lane] != 0));
      const bool output = rest && (whole || worker.steps->output_doubtful(panel, lane));
      if (!whole && !scores && !output) continue;
      CarefulRows<T>& careful = worker.steps->careful;
      const Index batch = panel.block.batch, head = panel.block.head, query = panel.block.queries.begin + lane;
      const ReferenceRow<T>& row = careful.compute(batch, head, query, show_blocked);
      if (output) careful.write_output(batch, head, query);
      if (whole && rest) careful.write_log_sum_exp(batch, head, query);
      if (whole && weights) copy_row(row.weights(), worker.rows + lane * keys());
      if (scores) copy_scores(row, worker.score_rows + lane * keys());
    }
  }

  void copy_scores(const ReferenceRow<T>& row, T* to) const {
    if (plan_.wanted.stage == Stage::raw) return copy_row(row.raw(), to);
    if (plan_.wanted.stage == Stage::capped) return copy_row(row.capped(), to);
    // A finite score never looks like a blocked one.
    std::transform(row.masked().begin(), row.masked().end(), to, [](double score) { return saturate_to<T>(score); });
  }

  static void copy_row(const std::vector<double>& from, T* to) {
    std::transform(from.begin(), from.end(), to, [](double number) { return static_cast<T>(number); });
  }

  TiledPlan<T> plan_;
  const Sweep& sweep_;
  std::vector<PanelPlace> panels_;
  Index places_ = 0;
  RowDelivery scores_, weights_;
};

}  // namespace

template <typename T>
void run_tiled_rows(const KernelJob& job, const RunContext& run) {
  for (const Sweep& sweep : plan_sweeps(*job.outputs, job.sizes.heads)) RowRun<T>(job, run, sweep).run();
}

template void run_tiled_rows<float>(const KernelJob&, const RunContext&);
template void run_tiled_rows<double>(const KernelJob&, const RunContext&);

}  // namespace v1
}  // namespace attn
