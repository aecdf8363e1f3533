#include "core/kernels/tiled_few.hpp"

#include <algorithm>

#include "core/kernels/counted_tasks.hpp"
#include "core/kernels/tiled_query_rows.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// With more queries than this the lanes of a panel are used well enough.
constexpr Index kFew = 4;

template <typename T>
class FewRun {
 public:
  FewRun(const KernelJob& job, const RunContext& run) : plan_(job, run, ScoreUnit::bits) {}

  void run() {
    const AttentionSizes& sizes = plan_.job.sizes;
    const Index planes = sizes.batch * sizes.kv_heads;
    stretches_ = std::max<Index>(1, (sizes.keys + plan_.stretch - 1) / plan_.stretch);
    if (planes < 4 * plan_.run.threads && stretches_ > 1) return run_by_stretch(planes);
    std::vector<Worker> workers = make_workers(planes);
    CountedTasks(plan_.run, planes).run(planes, [&](Index plane, int w) {
      QueryRows<T>& rows = *workers[static_cast<std::size_t>(w)].rows;
      rows.start(plane / sizes.kv_heads, plane % sizes.kv_heads);
      rows.advance({0, sizes.keys}, false);
      rows.finish();
    });
  }

 private:
  struct Worker {
    explicit Worker(const TiledPlan<T>& plan) {
      Carver count(nullptr);
      QueryRows<T> measured(plan, count);
      memory = plan.run.budget.allocate(count.used(), "rows of queries");
      Carver carver(memory.data());
      rows = std::make_unique<QueryRows<T>>(plan, carver);
    }
    Buffer memory;
    std::unique_ptr<QueryRows<T>> rows;
  };

  /// What one stretch of keys gives to one row.
  struct Stretch {
    RunningSums<T> sums;
    T* check;
  };

  std::vector<Worker> make_workers(Index tasks) const {
    std::vector<Worker> workers;
    for (Index i = 0; i < std::clamp<Index>(tasks, 1, plan_.run.threads); ++i) workers.emplace_back(plan_);
    return workers;
  }

  /// Fewer heads than threads want: they share the keys. Stretches are merged in order, as one thread would.
  void run_by_stretch(Index planes) {
    const AttentionSizes& sizes = plan_.job.sizes;
    const Index rows = sizes.heads / sizes.kv_heads * sizes.queries;
    std::vector<Stretch> kept(static_cast<std::size_t>(planes * stretches_ * rows));
    const Buffer memory = carve_stretches(kept);
    std::vector<Worker> workers = make_workers(planes * stretches_);
    CountedTasks counted(plan_.run, planes * (stretches_ + 1));
    counted.run(planes * stretches_, [&](Index number, int w) {
      QueryRows<T>& worker = *workers[static_cast<std::size_t>(w)].rows;
      const Index plane = number / stretches_, begin = number % stretches_ * plan_.stretch;
      worker.start(plane / sizes.kv_heads, plane % sizes.kv_heads);
      worker.advance({begin, std::min(begin + plan_.stretch, sizes.keys)}, false);
      for (Index r = 0; r < rows; ++r) {
        const Stretch& to = kept[static_cast<std::size_t>(number * rows + r)];
        copy_sums(worker.sums(r), to.sums, 1, plan_.value_size());
        *to.check = worker.check(r);
      }
    });
    counted.run(planes, [&](Index plane, int w) {
      QueryRows<T>& worker = *workers[static_cast<std::size_t>(w)].rows;
      worker.start(plane / sizes.kv_heads, plane % sizes.kv_heads);
      for (Index s = 0; s < stretches_; ++s) take(worker, kept.data() + (plane * stretches_ + s) * rows, rows, s > 0);
      worker.finish();
    });
  }

  void take(QueryRows<T>& worker, const Stretch* from, Index rows, bool fold) const {
    if (fold) worker.fold();
    for (Index r = 0; r < rows; ++r) {
      copy_sums(from[r].sums, worker.sums(r), 1, plan_.value_size());
      worker.check(r) += *from[r].check;
    }
  }

  Buffer carve_stretches(std::vector<Stretch>& kept) const {
    const auto carve = [&](Carver& carver) {
      for (Stretch& one : kept) one = {RunningSums<T>::carve(carver, 1, plan_.value_size()), carver.take<T>(1)};
    };
    Carver count(nullptr);
    carve(count);
    Buffer memory = plan_.run.budget.allocate(count.used(), "sums over parts of the keys");
    Carver carver(memory.data());
    carve(carver);
    return memory;
  }

  TiledPlan<T> plan_;
  Index stretches_ = 1;
};

}  // namespace

bool has_few_queries(const KernelJob& job) { return job.sizes.queries <= kFew; }

template <typename T>
void run_tiled_few(const KernelJob& job, const RunContext& run) {
  FewRun<T>(job, run).run();
}

template void run_tiled_few<float>(const KernelJob&, const RunContext&);
template void run_tiled_few<double>(const KernelJob&, const RunContext&);

}  // namespace v1
}  // namespace attn
