#include "core/kernels/tiled_projection.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "base/parallel.hpp"
#include "core/kernels/tiled_plan.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// So many products are summed by themselves and then added: block-local sums, as for values.
constexpr Index kDepthBlock = 256;
/// Rows share what is read of the weight in the cache.
constexpr Index kPanelsTogether = 4;
/// Columns are taken in groups of this many, as many as a full tile has.
constexpr Index kGroup = 4;
/// So many columns at most are summed at a time: their weights at a block of depths, and the sums, stay in the second cache.
constexpr Index kColumnsTogether = 256;
/// With fewer rows than this the weight is read where it lies; else a rearranged copy is worth its time.
constexpr Index kFewRows = 96;

template <typename T>
class ProjectionRun {
 public:
  ProjectionRun(const ProjectionJob& job, const RunContext& run)
      : job_(job),
        run_(run),
        steps_(steps_of<T>(tile_set(job.simd))),
        panels_(lay_panels(job.rows, steps_.vector_lanes, tile::kMaxVectors)),
        lanes_(steps_.vector_lanes * tile::kMaxVectors) {
    const Index row_blocks = count_blocks(static_cast<Index>(panels_.size()), kPanelsTogether);
    // Few rows: the threads share the columns.
    const Index wanted = std::max<Index>(1, 4 * run.threads / row_blocks);
    columns_ = std::max<Index>(kGroup * 8, count_blocks(count_blocks(job.out, wanted), kGroup) * kGroup);
    column_blocks_ = count_blocks(job.out, columns_);
    tasks_ = row_blocks * column_blocks_;
  }

  void run() {
    if (job_.rows > kFewRows) rearrange_weight();
    const int threads = static_cast<int>(std::clamp<Index>(tasks_, 1, run_.threads));
    std::vector<Worker> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(*this);
    parallel_for(tasks_, threads, [&](Index task, int worker) {
      const Index column = task % column_blocks_ * columns_;
      work(workers[static_cast<std::size_t>(worker)], task / column_blocks_ * kPanelsTogether,
           {column, std::min(column + columns_, job_.out)});
    });
  }

 private:
  struct Worker {
    explicit Worker(const ProjectionRun& run) {
      Carver count(nullptr);
      lay_out(run, count);
      memory = run.run_.budget.allocate(count.used(), "tiles of a projection");
      Carver carver(memory.data());
      lay_out(run, carver);
    }
    void lay_out(const ProjectionRun& run, Carver& carver) {
      x = carver.take<T>(kPanelsTogether * run.job_.in * run.lanes_);
      y = carver.take<T>(kPanelsTogether * kColumnsTogether * run.lanes_);
      for (T** lanes : {&ones, &check, &unused}) *lanes = carver.take<T>(run.lanes_);
      if (ones) std::fill_n(ones, run.lanes_, T(1));
    }
    Buffer memory;
    T* x;  // [panels][in][lanes]
    T* y;  // [panels][kColumnsTogether][lanes]
    T *ones, *check, *unused;
  };

  static Index count_blocks(Index all, Index block) { return (all + block - 1) / block; }
  const T* weight(Index i, Index o) const {
    return static_cast<const T*>(job_.weight) + i * job_.in_stride + o * job_.out_stride;
  }
  T* x_of(const Worker& worker, Index panel) const { return worker.x + panel * job_.in * lanes_; }
  T* y_of(const Worker& worker, Index panel) const { return worker.y + panel * kColumnsTogether * lanes_; }

  /// W -> [in / kDepthBlock][out / kGroup][depth][kGroup]: tile after tile reads on where the last one stopped; missing
  /// columns are 0.
  void rearrange_weight() {
    const std::size_t bytes = static_cast<std::size_t>(count_blocks(job_.out, kGroup) * kGroup * job_.in) * sizeof(T);
    memory_ = run_.budget.allocate(bytes, "a rearranged weight");
    packed_ = reinterpret_cast<T*>(memory_.data());
    // A rectangle at a time that the first cache holds, whichever way the weight lies.
    constexpr Index kDeep = 64, kWide = 16 * kGroup;
    const Index across = count_blocks(job_.out, kWide);
    parallel_for(count_blocks(job_.in, kDeep) * across, run_.threads, [&](Index block, int) {
      const Index top = block / across * kDeep, bottom = std::min(top + kDeep, job_.in);
      const Index left = block % across * kWide, right = std::min(left + kWide, job_.out);
      for (Index first = left; first < right; first += kGroup)
        for (Index i = top; i < bottom; ++i) copy_group(i, first, packed(first, i));
    });
  }
  void copy_group(Index i, Index first, T* to) const {
    const Index count = std::min(kGroup, job_.out - first);
    const T* const from = weight(i, first);
    for (Index o = 0; o < kGroup; ++o) to[o] = o < count ? from[o * job_.out_stride] : T(0);
  }
  /// Where the columns of a group are at a depth.
  T* packed(Index column, Index depth) const {
    const Index begin = depth - depth % kDepthBlock, height = std::min(kDepthBlock, job_.in - begin);
    return packed_ + begin * count_blocks(job_.out, kGroup) * kGroup + column * height + (depth - begin) * kGroup;
  }

  void work(Worker& worker, Index first_panel, Range columns) {
    const std::span<const PanelPlace> panels = std::span(panels_).subspan(static_cast<std::size_t>(first_panel));
    const Index count = std::min(kPanelsTogether, static_cast<Index>(panels.size()));
    for (Index p = 0; p < count; ++p) pack_rows(worker, p, panels[static_cast<std::size_t>(p)]);
    for (Index begin = columns.begin; begin < columns.end; begin += kColumnsTogether) {
      const Range together{begin, std::min(begin + kColumnsTogether, columns.end)};
      for (Index p = 0; p < count; ++p) start_sums(worker, p, panels[static_cast<std::size_t>(p)].lanes, together);
      for (Index depth = 0; depth < job_.in; depth += kDepthBlock)
        for (Index p = 0; p < count; ++p)
          add_products(worker, p, panels[static_cast<std::size_t>(p)].lanes, {depth, std::min(depth + kDepthBlock, job_.in)},
                       together);
      for (Index p = 0; p < count; ++p) finish(worker, p, panels[static_cast<std::size_t>(p)], together);
    }
  }

  void pack_rows(Worker& worker, Index p, const PanelPlace& place) {
    steps_.pack({job_.x_row<T>(place.queries.begin), job_.in, place.queries.end - place.queries.begin, job_.in, T(1),
                 x_of(worker, p), place.lanes, nullptr});
  }

  /// The sums start with the bias.
  void start_sums(Worker& worker, Index p, Index lanes, Range columns) {
    const T* const bias = static_cast<const T*>(job_.bias);
    for (Index o = columns.begin; o < columns.end; ++o)
      std::fill_n(y_of(worker, p) + (o - columns.begin) * lanes, lanes, bias ? bias[o] : T(0));
  }

  void add_products(Worker& worker, Index p, Index lanes, Range depth, Range columns) {
    const T* const x = x_of(worker, p) + depth.begin * lanes;
    T* const y = y_of(worker, p);
    const Index count = depth.end - depth.begin, width = columns.end - columns.begin;
    if (packed_) {
      for (Index o = 0; o < width; o += kGroup)
        steps_.sums({x, count, lanes, packed(columns.begin + o, depth.begin), kGroup, std::min(kGroup, width - o), y + o * lanes,
                     worker.ones});
    } else if (job_.out_stride == 1) {
      steps_.sums({x, count, lanes, weight(depth.begin, columns.begin), job_.in_stride, width, y, worker.ones});
    } else {
      // Columns of W lie like keys; what has been summed so far is added like a bias.
      steps_.scores(
          {x, count, lanes, weight(depth.begin, columns.begin), job_.out_stride, width, y, y, worker.unused, worker.unused});
    }
  }

  /// Lanes into rows. A row in which something is not finite is done again in double: its partial sums may have
  /// overflowed.
  void finish(Worker& worker, Index p, const PanelPlace& place, Range columns) {
    const Index rows = place.queries.end - place.queries.begin;
    std::fill_n(worker.check, lanes_, T(0));
    T* const y = static_cast<T*>(job_.y) + place.queries.begin * job_.out + columns.begin;
    steps_.unpack({y_of(worker, p), columns.end - columns.begin, place.lanes, worker.ones, y, job_.out, rows, worker.check});
    for (Index row = 0; row < rows; ++row)
      if (worker.check[row] != 0) redo(place.queries.begin + row, columns);
  }

  void redo(Index row, Range columns) const {
    ProjectionJob one = job_;
    one.x = job_.x_row<T>(row);
    one.rows = 1;
    one.out = columns.end - columns.begin;
    one.weight = weight(0, columns.begin);
    if (job_.bias) one.bias = static_cast<const T*>(job_.bias) + columns.begin;
    one.y = static_cast<T*>(job_.y) + row * job_.out + columns.begin;
    RunContext alone = run_;
    alone.threads = 1;
    run_reference_projection(one, alone);
  }

  const ProjectionJob& job_;
  const RunContext& run_;
  const tile::TileSteps<T>& steps_;
  std::vector<PanelPlace> panels_;
  Index lanes_;
  Index columns_ = 0, column_blocks_ = 0, tasks_ = 0;
  Buffer memory_;
  T* packed_ = nullptr;
};

}  // namespace

bool tiled_projection_supports(const ProjectionJob&) { return true; }

void run_tiled_projection(const ProjectionJob& job, const RunContext& run) {
  if (job.rows == 0 || job.out == 0) return;
  if (job.dtype == DType::f32)
    ProjectionRun<float>(job, run).run();
  else
    ProjectionRun<double>(job, run).run();
}

}  // namespace v1
}  // namespace attn
