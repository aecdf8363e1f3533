#include "core/kernels/tiled_online.hpp"

#include <algorithm>

#include "core/kernels/counted_tasks.hpp"
#include "core/kernels/tiled_panel.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// So many bytes of panels at most are worked on together: they and a block of keys and values stay in the second cache.
constexpr Index kPanelBytes = 512 * 1024;
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
    const Index stretches = (job().sizes.keys + plan_.stretch - 1) / plan_.stretch;
    if (tasks < 4 * plan_.run.threads && stretches > 1) return run_by_stretch(stretches);
    std::vector<Worker> workers = make_workers(tasks);
    CountedTasks(plan_.run, tasks).run(tasks, [&](Index task, int worker) {
      work(workers[static_cast<std::size_t>(worker)], place_of(task), {0, job().sizes.keys});
      finish_all(workers[static_cast<std::size_t>(worker)], place_of(task));
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
      masks.clear();
      for (Index i = 0; i < run.shape_.panels; ++i) masks.emplace_back(run.plan_, carver);
      panels.clear();
      for (Index i = 0; i < run.shape_.panels * run.heads_in_task(); ++i)
        panels.push_back(PanelWorker<T>::carve_panel(run.plan_, carver));
    }

    Buffer memory;
    std::unique_ptr<PanelWorker<T>> steps;
    std::vector<PanelMask<T>> masks;  // [panels]
    std::vector<Panel<T>> panels;     // [panels][heads]
    T* scores = nullptr;              // [kKeyBlock][lanes]
  };

  /// Which panels a task is about.
  struct TaskPlace {
    Index batch, place, first, panels;
  };

  /// What one stretch of keys gives to one panel.
  struct Stretch {
    RunningSums<T> sums;
    T* check;
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
      shape_.panels = std::clamp<Index>(kPanelBytes / (sizes.heads * panel_bytes), 1, kPanelsTogether);
    }
    while (shape_.panels > 1 && sizes.batch * places() * blocks() < 16 * plan_.run.threads) shape_.panels /= 2;
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

  /// The heads one after the other, so that keys and values stay in the cache; within a head the last block first, which
  /// under a causal mask is the longest.
  TaskPlace place_of(Index task) const {
    const Index plane = task / blocks(), block = blocks() - 1 - task % blocks(), first = block * shape_.panels;
    return {plane / places(), plane % places(), first, std::min(shape_.panels, static_cast<Index>(panels_.size()) - first)};
  }

  std::vector<Worker> make_workers(Index tasks) const {
    std::vector<Worker> workers;
    for (Index i = 0; i < std::clamp<Index>(tasks, 1, plan_.run.threads); ++i) workers.emplace_back(*this);
    return workers;
  }

  /// Few queries and many keys: the threads share the keys. What each stretch gives is kept and merged in order, just as
  /// if one thread had done them all.
  void run_by_stretch(Index stretches) {
    const Index tasks = job().sizes.batch * places() * blocks();
    const Index panels = shape_.panels * heads_in_task();
    std::vector<Stretch> kept(static_cast<std::size_t>(tasks * stretches * panels));
    const Buffer memory = carve_stretches(kept);
    std::vector<Worker> workers = make_workers(tasks * stretches);
    CountedTasks counted(plan_.run, tasks * (stretches + 1));
    counted.run(tasks * stretches, [&](Index number, int w) {
      Worker& worker = workers[static_cast<std::size_t>(w)];
      const Index begin = number % stretches * plan_.stretch;
      work(worker, place_of(number / stretches), {begin, std::min(begin + plan_.stretch, job().sizes.keys)});
      for (Index p = 0; p < panels; ++p)
        keep(worker.panels[static_cast<std::size_t>(p)], kept[static_cast<std::size_t>(number * panels + p)]);
    });
    counted.run(tasks, [&](Index task, int w) {
      Worker& worker = workers[static_cast<std::size_t>(w)];
      const TaskPlace place = place_of(task);
      work(worker, place, {0, 0});
      for (Index p = 0; p < place.panels * heads_in_task(); ++p) {
        Panel<T>& panel = worker.panels[static_cast<std::size_t>(p)];
        for (Index s = 0; s < stretches; ++s)
          take(panel, kept[static_cast<std::size_t>((task * stretches + s) * panels + p)], s > 0);
      }
      finish_all(worker, place);
    });
  }

  Buffer carve_stretches(std::vector<Stretch>& kept) const {
    const Index lanes = plan_.width() * tile::kMaxVectors;
    const auto carve = [&](Carver& carver) {
      for (Stretch& one : kept) one = {RunningSums<T>::carve(carver, lanes, plan_.value_size()), carver.take<T>(lanes)};
    };
    Carver count(nullptr);
    carve(count);
    Buffer memory = plan_.run.budget.allocate(count.used(), "sums over parts of the keys");
    Carver carver(memory.data());
    carve(carver);
    return memory;
  }

  void keep(const Panel<T>& panel, const Stretch& to) const {
    copy_sums(panel.now, to.sums, panel.lanes, plan_.value_size());
    std::copy_n(panel.check, panel.lanes, to.check);
  }

  void take(Panel<T>& panel, const Stretch& from, bool fold) {
    if (fold) PanelWorker<T>::fold(plan_, panel);
    copy_sums(from.sums, panel.now, panel.lanes, plan_.value_size());
    for (Index lane = 0; lane < panel.lanes; ++lane) panel.check[lane] += from.check[lane];
  }

  /// Starts the panels of a task and does those of their keys that lie in the range.
  void work(Worker& worker, const TaskPlace& task, Range range) {
    const Index heads = heads_in_task();
    Range visible{range.end, range.begin};
    for (Index p = 0; p < task.panels; ++p)
      for (Index h = 0; h < heads; ++h) {
        Panel<T>& panel = worker.panels[static_cast<std::size_t>(p * heads + h)];
        const PanelPlace& where = panels_[static_cast<std::size_t>(task.first + p)];
        worker.steps->start(panel, {task.batch, task.place + h, where.queries}, where.lanes);
        if (panel.visible.empty()) continue;
        visible = {std::min(visible.begin, std::max(panel.visible.begin, range.begin)),
                   std::max(visible.end, std::min(panel.visible.end, range.end))};
      }
    for_blocks(visible, [&](Index at) {
      for (Index p = 0; p < task.panels; ++p) ask(worker, p, worker.panels[static_cast<std::size_t>(p * heads)], at);
      for (Index h = 0; h < heads; ++h)
        for (Index p = 0; p < task.panels; ++p)
          advance(worker, p, worker.panels[static_cast<std::size_t>(p * heads + h)], at, false);
    });
  }

  void finish_all(Worker& worker, const TaskPlace& task) {
    for (Index i = 0; i < task.panels * heads_in_task(); ++i) finish(worker, worker.panels[static_cast<std::size_t>(i)]);
  }

  void finish(Worker& worker, Panel<T>& panel) {
    PanelWorker<T>& steps = *worker.steps;
    steps.conclude(panel);
    steps.unpack_output(panel);
    steps.write_log_sum_exp(panel);
    if (steps.needs_guard(panel)) {
      // Values that are not finite are rare enough to begin again.
      steps.start(panel, panel.block, panel.lanes);
      for_blocks(panel.visible, [&](Index at) {
        ask(worker, 0, panel, at);
        advance(worker, 0, panel, at, true);
      });
      steps.conclude(panel);
      steps.unpack_output(panel);
    }
    steps.redo_doubtful(panel);
  }

  template <typename Work>
  static void for_blocks(Range keys, const Work& work) {
    for (Index at = keys.begin - keys.begin % kKeyBlock; at < keys.end; at += kKeyBlock) work(at);
  }

  /// What the masks say to a panel about the key block that begins at `at`; the same for all heads of a task.
  static void ask(Worker& worker, Index place, const Panel<T>& panel, Index at) {
    worker.masks[static_cast<std::size_t>(place)].build(panel.block, panel.lanes, panel.keys_of_block(at));
  }

  void advance(Worker& worker, Index place, Panel<T>& panel, Index at, bool guarded) {
    PanelWorker<T>& steps = *worker.steps;
    if (steps.begins_stretch(panel, at)) PanelWorker<T>::fold(plan_, panel);
    const std::span<const KeySegment<T>> segments = worker.masks[static_cast<std::size_t>(place)].segments();
    if (segments.empty()) return;
    const Range seen{segments.front().keys.begin, segments.back().keys.end};
    steps.forget_highest();
    for (const KeySegment<T>& segment : segments)
      steps.score(panel, segment, worker.scores + (segment.keys.begin - seen.begin) * panel.lanes);
    steps.raise(panel, seen.end - seen.begin, worker.scores);
    steps.add_values(panel, seen, segments, worker.scores, guarded);
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

}  // namespace v1
}  // namespace attn
