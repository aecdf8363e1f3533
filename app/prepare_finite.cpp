#include <cmath>
#include <functional>
#include <limits>

#include "app/prepare.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

double element(const Array& array, Index place) {
  double value = 0;
  convert_elements(array.dtype, array.bytes.data() + static_cast<std::size_t>(place) * item_size(array.dtype), 1, &value);
  return value;
}

/// "row 1, column 2" of a matrix, "batch 0, row 1, column 2" of rank 3, "[0,1,1,2]" of rank 4; counted from 0.
std::string place_text(const Array& array, Index place) {
  std::vector<Index> at(array.shape.size());
  for (std::size_t axis = at.size(); axis-- > 0; place /= array.shape[axis]) at[axis] = place % array.shape[axis];
  if (at.size() == 1) return concat("place ", at[0]);
  if (at.size() == 2) return concat("row ", at[0], ", column ", at[1]);
  if (at.size() == 3) return concat("batch ", at[0], ", row ", at[1], ", column ", at[2]);
  return shape_text(at);
}

[[noreturn]] void refuse(const Source& source, Index place) {
  fail_with_hint(ErrorKind::mismatch, "--allow-nonfinite carries it through", source.origin, ": ",
                 place_text(*source.array, place), " is ", format_number(element(*source.array, place)),
                 ", expected a finite number");
}

/// The first place, from `from` on, that holds NaN or infinity; the size of the array if there is none.
template <typename T>
Index next_nonfinite(const Array& array, Index from) {
  constexpr Index kAtOnce = 1024;  // looked at without a branch, which the compiler can do many at a time
  const T* values = array.data<T>();
  const Index size = array.size();
  for (; from + kAtOnce <= size; from += kAtOnce) {
    int bad = 0;
    for (Index i = from; i < from + kAtOnce; ++i) bad |= !(std::fabs(values[i]) <= std::numeric_limits<T>::max());
    if (bad) break;
  }
  while (from < size && std::isfinite(values[from])) ++from;
  return from;
}

Index next_nonfinite(const Array& array, Index from) {
  if (array.dtype == DType::f32) return next_nonfinite<float>(array, from);
  if (array.dtype == DType::f64) return next_nonfinite<double>(array, from);
  if (array.dtype != DType::f16 && array.dtype != DType::bf16) return array.size();
  while (from < array.size() && std::isfinite(element(array, from))) ++from;
  return from;
}

/// Which rows of query and key some result depends on. Worked out only when something is not finite.
class LiveRows {
 public:
  explicit LiveRows(const Prepared& prepared) : shape_(prepared.shape) {
    queries_.resize(static_cast<std::size_t>(shape_.batch * shape_.heads * shape_.queries));
    keys_.resize(static_cast<std::size_t>(shape_.batch * shape_.kv_heads * shape_.keys));
    const auto visibility = make_visibility(prepared.inputs, {}, Reduce::none);
    std::vector<Range> ranges{{0, shape_.keys}};
    for (Index row = 0; row < static_cast<Index>(queries_.size()); ++row) {
      if (visibility) visibility->allowed_keys(row, ranges);
      mark(row, ranges);
    }
  }

  bool query(Index batch, Index head, Index row) const {
    return queries_[static_cast<std::size_t>((batch * shape_.heads + head) * shape_.queries + row)];
  }
  bool key(Index batch, Index kv_head, Index row) const {
    return keys_[static_cast<std::size_t>((batch * shape_.kv_heads + kv_head) * shape_.keys + row)];
  }

 private:
  void mark(Index row, const std::vector<Range>& ranges) {
    const Index plane = row / shape_.queries;
    const Index kv_head = plane % shape_.heads / (shape_.heads / shape_.kv_heads);
    const Index first = (plane / shape_.heads * shape_.kv_heads + kv_head) * shape_.keys;
    for (const Range& range : ranges) {
      if (range.empty()) continue;
      queries_[static_cast<std::size_t>(row)] = true;
      for (Index key = range.begin; key < range.end; ++key) keys_[static_cast<std::size_t>(first + key)] = true;
    }
  }

  const AttentionShape& shape_;
  std::vector<bool> queries_, keys_;
};

/// Where an element of a file stands in attention: [batch, head, row] of its view.
struct Place {
  Index batch, head, row;
};

Place place_of(const TensorView& view, Index element) {
  const Index size = view.heads * view.rows * view.columns;
  const Index batch = size ? element / size : 0;
  const Index rest = element - batch * size;
  if (view.head_stride > view.row_stride || view.rows == 1)  // heads stand one after the other
    return {batch, rest / view.head_stride % view.heads, rest % (view.rows * view.columns) / view.columns};
  return {batch, rest % view.row_stride / view.head_stride, rest / view.row_stride};
}

using IsLive = std::function<bool(const Place&)>;

class Checker {
 public:
  explicit Checker(const Prepared& prepared) : prepared_(prepared), shape_(prepared.shape) {}

  void check_query() {
    check(prepared_.query.source, prepared_.query.projected, shape_.heads, shape_.layout,
          [this](const Place& at) { return live().query(at.batch, at.head, at.row); });
  }
  void check_key(const Tensor& tensor) {
    check(tensor.source, tensor.projected, shape_.kv_heads, shape_.layout,
          [this](const Place& at) { return live().key(at.batch, at.head, shape_.past + at.row); });
  }
  /// The past's view has the strides of its own file.
  void check_past(Input input, const TensorView& view) {
    const Source& source = prepared_.sources.at(input);
    check(source, view, [this](const Place& at) { return live().key(at.batch, at.head, at.row); });
  }

 private:
  const LiveRows& live() {
    if (!live_) live_.emplace(prepared_);
    return *live_;
  }

  void check(const Source& source, bool projected, Index heads, TensorLayout layout, const IsLive& is_live) {
    if (!projected) return check(source, split_heads(*source.array, heads, layout, source.origin), is_live);
    // Every column of a row goes into all heads of the projection.
    check(source, split_heads(*source.array, 1, layout, source.origin), [&](const Place& at) {
      for (Index head = 0; head < heads; ++head)
        if (is_live({at.batch, head, at.row})) return true;
      return false;
    });
  }

  void check(const Source& source, const TensorView& view, const IsLive& is_live) {
    const Array& array = *source.array;
    for (Index place = next_nonfinite(array, 0); place < array.size(); place = next_nonfinite(array, place + 1))
      if (is_live(place_of(view, place))) refuse(source, place);
  }

  const Prepared& prepared_;
  const AttentionShape& shape_;
  std::optional<LiveRows> live_;
};

}  // namespace

void refuse_nonfinite(const Source& source) {
  const Index place = next_nonfinite(*source.array, 0);
  if (place < source.array->size()) refuse(source, place);
}

void refuse_nonfinite(const Prepared& prepared) {
  Checker checker(prepared);
  checker.check_query();
  checker.check_key(prepared.key);
  if (prepared.value) checker.check_key(*prepared.value);
  if (prepared.shape.past == 0) return;
  checker.check_past(Input::past_key, prepared.past_key);
  if (prepared.value) checker.check_past(Input::past_value, prepared.past_value);
}

}  // namespace attn::app
