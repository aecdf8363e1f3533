#include "core/kernels/tiled_online.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "core/kernels/tiled_panel.hpp"

namespace attn {
namespace {

/// So many bytes of panels at most are worked on together: they and a block of keys and values stay in the second cache.
constexpr Index kPanelBytes = 256 * 1024;
constexpr Index kPanelsTogether = 4;

/// What is done as one task: some neighbouring panels of one head, or of all heads when they share what the masks say.
struct TaskShape {
  Index panels = kPanelsTogether;
  bool heads_inside = false;
};

template <typename T>
class OnlineRun {
 public:
  OnlineRun(const KernelJob& job, const RunContext& run)
      : plan_(job, run, ScoreUnit::bits), panels_(lay_panels(job.sizes.queries, plan_.width(), tile::kMaxVectors)) {
    choose_shape();
  }

  void run() {
    const Index tasks = job().sizes.batch * places() * blocks();
    const int threads = static_cast<int>(std::clamp<Index>(tasks, 1, plan_.run.threads));
    std::vector<Worker> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(*this);
    std::atomic<Index> done{0};
    parallel_for(tasks, threads, [&](Index task, int worker) {
      // The heads one after the other, so that keys and values stay in the cache; within a head the last block first,
      // which under a causal mask is the longest.
      const Index plane = task / blocks(), block = blocks() - 1 - task % blocks();
      work(workers[static_cast<std::size_t>(worker)], plane / places(), plane % places(), block);
      const Index finished = ++done;
      if (plan_.run.progress) plan_.run.progress->update("computing", finished, tasks);
    });
  }

 private:
  struct Worker {
    explicit Worker(const OnlineRun& run) {
      Carver count(nullptr);
      lay_out(run, count);
      memory = run.plan_.run.budget.allocate(count.used(), "tiles of the attention kernel");
      Carver carver(memory.data());
      lay_out(run, carver);
    }
    void lay_out(const OnlineRun& run, Carver& carver) {
      steps = std::make_unique<PanelWorker<T>>(run.plan_, carver);
      scores = carver.take<T>(kKeyBlock * run.plan_.width() * tile::kMaxVectors);
      panels.clear();
      for (Index i = 0; i < run.shape_.panels * run.heads_in_task(); ++i)
        panels.push_back(PanelWorker<T>::carve_panel(run.plan_, carver));
    }

    Buffer memory;
    std::unique_ptr<PanelWorker<T>> steps;
    std::vector<Panel<T>> panels;  // [panels][heads]
    T* scores = nullptr;           // [kKeyBlock][lanes]
  };

  const KernelJob& job() const { return plan_.job; }
  Index heads_in_task() const { return shape_.heads_inside ? job().sizes.heads : 1; }
  Index places() const { return shape_.heads_inside ? 1 : job().sizes.heads; }
  Index blocks() const { return (static_cast<Index>(panels_.size()) + shape_.panels - 1) / shape_.panels; }

  void choose_shape() {
    const AttentionSizes& sizes = job().sizes;
    const Index panel_bytes = (sizes.head_size + sizes.value_size) * plan_.width() * tile::kMaxVectors * Index{sizeof(T)};
    if (sizes.heads > 1 && sizes.heads * panel_bytes <= kPanelBytes && mask_is_dear()) {
      shape_.heads_inside = true;
      shape_.panels = 1;
    }
    while (shape_.panels > 1 && sizes.batch * places() * blocks() < 8 * plan_.run.threads) shape_.panels /= 2;
  }

  /// Whether the masks have something to say about most cells, and the same for all heads.
  bool mask_is_dear() const {
    const MaskSet& masks = *job().masks;
    if (masks.varies_by_head()) return false;
    if (masks.biases()) return true;
    if (!masks.blocks()) return false;
    Index mixed = 0, seen = 0;
    const Index stride = std::max<Index>(1, static_cast<Index>(panels_.size()) / 8);
    for (std::size_t p = 0; p < panels_.size(); p += static_cast<std::size_t>(stride)) {
      const QueryBlock block{0, 0, panels_[p].queries};
      const Range visible = masks.visible_keys(block);
      for (Index at = visible.begin; at < visible.end; at += kKeyBlock) {
        const Coverage coverage = masks.coverage(block, {at, std::min(at + kKeyBlock, visible.end)});
        seen += coverage != Coverage::none;
        mixed += coverage == Coverage::some;
      }
    }
    return 2 * mixed > seen && seen > 2 * static_cast<Index>(panels_.size()) / stride;
  }

  void work(Worker& worker, Index batch, Index place, Index block) {
    const Index first = block * shape_.panels;
    const Index count = std::min(shape_.panels, static_cast<Index>(panels_.size()) - first);
    const Index heads = heads_in_task();
    Range visible{job().sizes.keys, 0};
    for (Index p = 0; p < count; ++p)
      for (Index h = 0; h < heads; ++h) {
        Panel<T>& panel = worker.panels[static_cast<std::size_t>(p * heads + h)];
        const PanelPlace& where = panels_[static_cast<std::size_t>(first + p)];
        worker.steps->start(panel, {batch, place + h, where.queries}, where.lanes);
        if (panel.visible.empty()) continue;
        visible = {std::min(visible.begin, panel.visible.begin), std::max(visible.end, panel.visible.end)};
      }
    for (Index at = visible.begin - visible.begin % kKeyBlock; at < visible.end; at += kKeyBlock)
      for (Index p = 0; p < count; ++p) advance(worker, &worker.panels[static_cast<std::size_t>(p * heads)], heads, at, false);
    for (Index i = 0; i < count * heads; ++i) finish(worker, worker.panels[static_cast<std::size_t>(i)]);
  }

  void finish(Worker& worker, Panel<T>& panel) {
    PanelWorker<T>& steps = *worker.steps;
    steps.unpack_output(panel);
    steps.write_log_sum_exp(panel);
    if (steps.needs_guard(panel)) {
      steps.start(panel, panel.block, panel.lanes);
      for (Index at = panel.visible.begin - panel.visible.begin % kKeyBlock; at < panel.visible.end; at += kKeyBlock)
        advance(worker, &panel, 1, at, true);
      steps.unpack_output(panel);
    }
    steps.redo_doubtful(panel);
  }

  /// The key block that begins at `at`, for one panel of each head of the task.
  void advance(Worker& worker, Panel<T>* panels, Index heads, Index at, bool guarded) {
    const Range keys = panels[0].keys_of_block(at);
    if (keys.empty()) return;
    PanelWorker<T>& steps = *worker.steps;
    steps.mask.build(panels[0].block, panels[0].lanes, keys);
    const std::span<const KeySegment<T>> segments = steps.mask.segments();
    if (segments.empty()) return;
    const Range seen{segments.front().keys.begin, segments.back().keys.end};
    for (Index h = 0; h < heads; ++h) {
      steps.forget_highest();
      for (const KeySegment<T>& segment : segments)
        steps.score(panels[h], segment, worker.scores + (segment.keys.begin - seen.begin) * panels[h].lanes);
      steps.raise(panels[h], seen.end - seen.begin, worker.scores);
      steps.add_values(panels[h], seen, segments, worker.scores, guarded);
    }
  }

  TiledPlan<T> plan_;
  std::vector<PanelPlace> panels_;
  TaskShape shape_;
};

}  // namespace

template <typename T>
void run_tiled_online(const KernelJob& job, const RunContext& run) {
  OnlineRun<T>(job, run).run();
}

template void run_tiled_online<float>(const KernelJob&, const RunContext&);
template void run_tiled_online<double>(const KernelJob&, const RunContext&);

}  // namespace attn
