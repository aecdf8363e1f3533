#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "attn/core/attention.hpp"

// A problem of attention in plain vectors, and a way to have the library solve it. The oracle reads the same problem but
// shares no code with the library.
namespace attn::test {

/// Numbers with a shape; `dtype` is what the library gets.
struct Numbers {
  Shape shape;
  std::vector<double> values;
  DType dtype = DType::f64;
};

/// Copies numbers into an array of their element type.
inline Array to_array(const Numbers& numbers) {
  const MemoryBudget budget;
  Array array = make_array(numbers.dtype, numbers.shape, budget, "test");
  const auto put = [&array](std::size_t i, auto value) {
    std::memcpy(array.bytes.data() + i * sizeof value, &value, sizeof value);
  };
  for (std::size_t i = 0; i < numbers.values.size(); ++i) {
    const double value = numbers.values[i];
    if (numbers.dtype == DType::f64) put(i, value);
    if (numbers.dtype == DType::f32) put(i, static_cast<float>(value));
    if (numbers.dtype == DType::i64) put(i, static_cast<std::int64_t>(value));
    if (numbers.dtype == DType::i32) put(i, static_cast<std::int32_t>(value));
    if (numbers.dtype == DType::u8 || numbers.dtype == DType::boolean) put(i, static_cast<std::uint8_t>(value));
    if (numbers.dtype == DType::i8) put(i, static_cast<std::int8_t>(value));
  }
  return array;
}

/// One array of --mask or --bias.
struct MaskNumbers {
  Numbers numbers;
  MaskKind kind = MaskKind::keep;
};

struct Problem {
  Index batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, head_size = 1, value_size = 1;
  DType dtype = DType::f64;
  std::vector<double> query;  // [B,H,n,d]
  std::vector<double> key;    // [B,G,m,d]
  std::vector<double> value;  // [B,G,m,v]
  std::vector<double> sinks;
  MaskOptions masks;  // its `arrays` stay empty: those below take their place
  std::vector<MaskNumbers> arrays;
  AttentionOptions options;

  double scale() const { return options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(head_size)); }
};

/// Keeps every row it is given, as double, in order.
class CollectingSink final : public RowSink {
 public:
  void encode(const RowBlock&, std::string&) const override {}
  void append(const RowBlock& rows, std::string_view) override {
    in_order = in_order && rows.first == next_row;
    next_row = rows.first + rows.count;
    for (Index r = 0; r < rows.count; ++r)
      for (Index c = 0; c < rows.columns; ++c)
        values.push_back(rows.dtype == DType::f32 ? static_cast<double>(rows.row<float>(r)[c]) : rows.row<double>(r)[c]);
  }
  void finish() override {}

  std::vector<double> values;
  Index next_row = 0;
  bool in_order = true;
};

/// What is asked of a run; everything by default.
struct Wanted {
  bool weights = true, scores = false, output = true, lse = true;
  Stage stage = Stage::raw;
  std::vector<Index> heads = {};
  Reduce reduce = Reduce::none;
  int threads = 1;
};

struct Solution {
  std::vector<double> weights, scores, output, lse;
  AttentionReport report;
  bool rows_in_order = true;

  bool operator==(const Solution& other) const {
    const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
      return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
    };
    return same(weights, other.weights) && same(scores, other.scores) && same(output, other.output) && same(lse, other.lse);
  }
};

/// A problem laid out as the library wants it. Keeps the memory that `inputs` refers to.
class PreparedProblem {
 public:
  explicit PreparedProblem(const Problem& problem) {
    query_ = to_array({{static_cast<Index>(problem.query.size())}, problem.query, problem.dtype});
    key_ = to_array({{static_cast<Index>(problem.key.size())}, problem.key, problem.dtype});
    value_ = to_array({{static_cast<Index>(problem.value.size())}, problem.value, problem.dtype});
    inputs.query = view(query_, problem, problem.heads, problem.queries, problem.head_size, "query");
    inputs.key = view(key_, problem, problem.kv_heads, problem.keys, problem.head_size, "key");
    inputs.value = view(value_, problem, problem.kv_heads, problem.keys, problem.value_size, "value");
    inputs.sinks = problem.sinks;
    inputs.masks = problem.masks;
    for (const MaskNumbers& mask : problem.arrays) arrays_.push_back(to_array(mask.numbers));
    for (std::size_t i = 0; i < arrays_.size(); ++i) inputs.masks.arrays.push_back({&arrays_[i], problem.arrays[i].kind, "mask"});
  }
  PreparedProblem(const PreparedProblem&) = delete;
  PreparedProblem& operator=(const PreparedProblem&) = delete;

  AttentionInputs inputs;

 private:
  static TensorView view(const Array& array, const Problem& problem, Index heads, Index rows, Index columns, const char* origin) {
    TensorView view;
    view.dtype = problem.dtype;
    view.data = array.bytes.data();
    view.batch = problem.batch, view.heads = heads, view.rows = rows, view.columns = columns;
    view.row_stride = columns, view.head_stride = rows * columns, view.batch_stride = heads * rows * columns;
    view.origin = origin;
    return view;
  }

  Array query_, key_, value_;
  std::vector<Array> arrays_;
};

inline std::vector<double> to_doubles(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.size()));
  convert_elements(array.dtype, array.bytes.data(), array.size(), values.data());
  return values;
}

inline MutableTensorView writable(Array& array, Index heads, Index rows, Index columns) {
  return {array.dtype, array.bytes.data(), heads * rows * columns, rows * columns, columns};
}

/// Has the library solve the problem.
inline Solution solve(const Problem& problem, const Wanted& wanted = {}) {
  const PreparedProblem prepared(problem);
  CollectingSink weights, scores;
  RunContext run;
  run.threads = wanted.threads;
  const Index B = problem.batch, H = problem.heads, n = problem.queries, v = problem.value_size;
  Array output = make_array(problem.dtype, {B, H, n, v}, run.budget, "test");
  Array lse = make_array(problem.dtype, {B, H, n, 1}, run.budget, "test");
  AttentionOutputs outputs;
  if (wanted.weights) outputs.weights.sinks.push_back(&weights);
  outputs.weights.heads = wanted.heads;
  outputs.weights.reduce = wanted.reduce;
  if (wanted.scores) outputs.scores.push_back(&scores);
  outputs.stage = wanted.stage;
  if (wanted.output) outputs.output = writable(output, H, n, v);
  if (wanted.lse) outputs.lse = writable(lse, H, n, 1);

  Solution solution;
  solution.report = attend(prepared.inputs, problem.options, outputs, run);
  solution.weights = std::move(weights.values);
  solution.scores = std::move(scores.values);
  solution.rows_in_order = weights.in_order && scores.in_order;
  if (wanted.output) solution.output = to_doubles(output);
  if (wanted.lse) solution.lse = to_doubles(lse);
  return solution;
}

/// A way to run: a kernel, and the instruction set where it has several.
struct Variant {
  std::string kernel, simd;
  std::string name() const { return simd.empty() ? kernel : kernel + "/" + simd; }
};

/// Every kernel with every instruction set that runs here: new ones are covered by themselves. ATTN_TEST_KERNEL keeps one.
inline std::vector<Variant> variants() {
  const char* const only = std::getenv("ATTN_TEST_KERNEL");
  std::vector<Variant> all;
  for (const std::string& kernel : kernel_names()) {
    if (only && kernel != only) continue;
    if (kernel == "reference") {
      all.push_back({kernel, ""});
      continue;
    }
    for (const std::string& simd : simd_names())
      if (simd_runs(simd)) all.push_back({kernel, simd});
  }
  return all;
}

inline Problem with_variant(Problem problem, const Variant& variant) {
  problem.options.kernel = variant.kernel;
  problem.options.simd = variant.simd;
  return problem;
}

}  // namespace attn::test
