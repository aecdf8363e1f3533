#include "render/downsample.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// In front of the values of one pooled row; columns() highs follow, and as many lows if cells are pooled.
struct RecordHeader {
  Index pooled_row = 0;  // panel · rows + row
  Index rows = 0;
  Index empty = 0;
};

/// Some consecutive queries of one pooled row, and the keys each of them shows.
struct Strip {
  RowBlock rows;
  std::vector<std::vector<Range>> shown;
};

/// Down the columns first: this loop runs over neighbours in memory and becomes vector code.
template <typename T>
void take_extremes(const T* values, Index count, T* high, T* low) {
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  for (Index j = 0; j < count; ++j) {
    const T x = values[j];
    high[j] = ((x > high[j]) | (x != x)) ? x : high[j];
    low[j] = ((x < low[j]) & (x > kLowest)) ? x : low[j];
  }
}

/// `high` holds sums, `low` counts.
template <typename T>
void take_sum(const T* values, Index count, double* sum, double* number) {
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  for (Index j = 0; j < count; ++j) {
    const bool counts = values[j] != kLowest;
    sum[j] += counts ? static_cast<double>(values[j]) : 0.0;
    number[j] += counts ? 1.0 : 0.0;
  }
}

void merge_extremes(double high, double low, double& into_high, double& into_low) {
  if (high > into_high || std::isnan(high)) into_high = high;
  if (low < into_low) into_low = low;
}

/// Pools the columns [begin, end) of a strip; the end of one tile is the end of a block.
template <typename T, bool kMean>
class TilePooler {
 public:
  using Work = std::conditional_t<kMean, double, T>;

  TilePooler(const PoolPlan& plan, Index tile) : plan_(plan), high_(fill(tile)), low_(fill(tile)) {}

  void pool(const Strip& strip, Index begin, Index end, double* high, double* low) {
    constexpr Work kTop = std::numeric_limits<Work>::infinity();
    std::fill(high_.begin(), high_.end(), kMean ? Work{0} : -kTop);
    std::fill(low_.begin(), low_.end(), kMean ? Work{0} : kTop);
    for (Index r = 0; r < strip.rows.count; ++r)
      for (const Range& keys : strip.shown[static_cast<std::size_t>(r)])
        take(strip.rows.row<T>(r), begin, std::max(begin, keys.begin), std::min(end, keys.end));
    for (Index column = begin; column < end; column += plan_.block_keys)
      gather(column - begin, std::min(end, column + plan_.block_keys) - begin, high[column / plan_.block_keys],
             low[column / plan_.block_keys]);
  }

 private:
  static std::vector<Work> fill(Index tile) { return std::vector<Work>(static_cast<std::size_t>(tile)); }

  void take(const T* row, Index tile, Index first, Index last) {
    if (first >= last) return;
    if constexpr (kMean)
      take_sum(row + first, last - first, high_.data() + (first - tile), low_.data() + (first - tile));
    else
      take_extremes(row + first, last - first, high_.data() + (first - tile), low_.data() + (first - tile));
  }

  /// Along the row, over one block.
  void gather(Index first, Index last, double& high, double& low) const {
    high = kMean ? 0 : -kInfinity;
    low = kMean ? 0 : kInfinity;
    for (Index j = first; j < last; ++j) {
      const double h = static_cast<double>(high_[static_cast<std::size_t>(j)]);
      const double l = static_cast<double>(low_[static_cast<std::size_t>(j)]);
      if constexpr (kMean)
        high += h, low += l;
      else
        merge_extremes(h, l, high, low);
    }
  }

  const PoolPlan& plan_;
  std::vector<Work> high_, low_;
};

template <typename T, bool kMean>
void pool_strip(const PoolPlan& plan, const Strip& strip, double* high, double* low) {
  // A tile stays in the first-level cache while all rows of the strip pass over it.
  constexpr Index kTile = 2048;
  const Index tile = std::max<Index>(1, kTile / plan.block_keys) * plan.block_keys;
  TilePooler<T, kMean> pooler(plan, std::min(tile, plan.keys));
  for (Index begin = 0; begin < plan.keys; begin += tile) pooler.pool(strip, begin, std::min(plan.keys, begin + tile), high, low);
}

void pool_strip(const PoolPlan& plan, const Strip& strip, double* high, double* low) {
  const bool single = strip.rows.dtype == DType::f32;
  if (plan.mean)
    return single ? pool_strip<float, true>(plan, strip, high, low) : pool_strip<double, true>(plan, strip, high, low);
  return single ? pool_strip<float, false>(plan, strip, high, low) : pool_strip<double, false>(plan, strip, high, low);
}

RowBlock part_of(const RowBlock& rows, Index skip, Index count) {
  RowBlock part = rows;
  part.first += skip;
  part.count = count;
  part.data = rows.dtype == DType::f32 ? static_cast<const void*>(rows.row<float>(skip))
                                       : static_cast<const void*>(rows.row<double>(skip));
  return part;
}

}  // namespace

PooledCells::PooledCells(const PoolPlan& plan, const Visibility* visibility, const MemoryBudget& budget)
    : plan_(plan), visibility_(visibility) {
  const Index pooled_rows = plan.panels * plan.rows();
  const std::size_t bytes = checked_bytes({plan.panels, plan.rows(), plan.columns()}, DType::f64, "the picture");
  high_ = budget.allocate(bytes, "the picture");
  std::fill_n(reinterpret_cast<double*>(high_.data()), bytes / sizeof(double), plan.mean ? 0.0 : -kInfinity);
  if (plan.pooled() || plan.mean) {
    low_ = budget.allocate(bytes, "the picture");
    std::fill_n(reinterpret_cast<double*>(low_.data()), bytes / sizeof(double), plan.mean ? 0.0 : kInfinity);
  }
  rows_.resize(static_cast<std::size_t>(pooled_rows));
}

void PooledCells::encode(const RowBlock& rows, std::string& encoded) const {
  const std::size_t columns = static_cast<std::size_t>(plan_.columns());
  std::vector<double> values(2 * columns);
  for (Index r = 0; r < rows.count;) {
    const Index query = (rows.first + r) % plan_.queries, panel = (rows.first + r) / plan_.queries;
    const Index pooled = query / plan_.block_queries;
    const Index end = std::min(plan_.queries, (pooled + 1) * plan_.block_queries);
    Strip strip{part_of(rows, r, std::min(end - query, rows.count - r)), {}};
    RecordHeader header{panel * plan_.rows() + pooled, strip.rows.count, 0};
    strip.shown.resize(static_cast<std::size_t>(strip.rows.count), {{0, plan_.keys}});
    if (visibility_ != nullptr) {
      for (Index i = 0; i < strip.rows.count; ++i) {
        std::vector<Range>& shown = strip.shown[static_cast<std::size_t>(i)];
        visibility_->allowed_keys(strip.rows.first + i, shown);
        header.empty += shown.empty() ? 1 : 0;
      }
    }
    pool_strip(plan_, strip, values.data(), values.data() + columns);
    encoded.append(reinterpret_cast<const char*>(&header), sizeof header);
    encoded.append(reinterpret_cast<const char*>(values.data()), (low_.size() > 0 ? 2 : 1) * columns * sizeof(double));
    r += strip.rows.count;
  }
}

void PooledCells::append(std::string_view encoded) {
  const std::size_t columns = static_cast<std::size_t>(plan_.columns());
  const bool two = low_.size() > 0;
  std::vector<double> values(2 * columns);
  while (!encoded.empty()) {
    RecordHeader header;
    std::memcpy(&header, encoded.data(), sizeof header);
    encoded.remove_prefix(sizeof header);
    const std::size_t bytes = (two ? 2 : 1) * columns * sizeof(double);
    std::memcpy(values.data(), encoded.data(), bytes);
    encoded.remove_prefix(bytes);
    Row& row = rows_.at(static_cast<std::size_t>(header.pooled_row));
    row.rows += header.rows;
    row.empty += header.empty;
    double* high = reinterpret_cast<double*>(high_.data()) + static_cast<std::size_t>(header.pooled_row) * columns;
    if (!two) {
      std::copy_n(values.data(), columns, high);
      continue;
    }
    double* low = reinterpret_cast<double*>(low_.data()) + static_cast<std::size_t>(header.pooled_row) * columns;
    for (std::size_t j = 0; j < columns; ++j) {
      if (plan_.mean)
        high[j] += values[j], low[j] += values[columns + j];
      else
        merge_extremes(values[j], values[columns + j], high[j], low[j]);
    }
  }
}

void PooledCells::finish() {
  if (!plan_.mean) return;
  double* high = reinterpret_cast<double*>(high_.data());
  double* low = reinterpret_cast<double*>(low_.data());
  for (std::size_t i = 0; i < high_.size() / sizeof(double); ++i) {
    const bool shown = low[i] > 0;
    high[i] = shown ? high[i] / low[i] : -kInfinity;
    low[i] = shown ? high[i] : kInfinity;
  }
}

bool PooledCells::is_empty_row(Index panel, Index row) const {
  const Row& counts = rows_.at(static_cast<std::size_t>(panel * plan_.rows() + row));
  return counts.rows > 0 && counts.empty == counts.rows;
}

}  // namespace v1
}  // namespace attn
