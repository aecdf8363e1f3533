#include "bench/problem.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attn/base/error.hpp"

namespace attn::bench {
namespace {

/// Uniform in ±1.7, the same in every run.
template <typename T>
void fill(T* numbers, Index count, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (Index i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers[i] = static_cast<T>(static_cast<double>(state >> 11) * 0x1p-53 * 3.4 - 1.7);
  }
}

void fill(Array& array, std::uint64_t seed) {
  if (array.dtype == DType::f32)
    fill(array.data<float>(), array.size(), seed);
  else
    fill(array.data<double>(), array.size(), seed);
}

TensorView view_of(const Array& array, const Shape4& shape, Index heads, Index rows, Index plane) {
  TensorView view;
  view.dtype = array.dtype;
  view.data = array.bytes.data() + static_cast<std::size_t>(plane) * item_size(array.dtype);
  view.batch = shape.batch, view.heads = heads, view.rows = rows, view.columns = shape.head_size;
  view.row_stride = shape.head_size, view.head_stride = rows * shape.head_size, view.batch_stride = heads * view.head_stride;
  return view;
}

}  // namespace

/// Copies rows where they belong, on the threads that made them.
class Problem::MemorySink final : public RowSink {
 public:
  explicit MemorySink(std::size_t bytes) : bytes_(bytes) { map(); }
  ~MemorySink() override { munmap(memory_, bytes_); }

  void renew() {
    munmap(memory_, bytes_);
    map();
  }
  void encode(const RowBlock& rows, std::string&) const override {
    const std::size_t row = static_cast<std::size_t>(rows.columns) * item_size(rows.dtype);
    std::memcpy(static_cast<char*>(memory_) + static_cast<std::size_t>(rows.first) * row, rows.data,
                row * static_cast<std::size_t>(rows.count));
  }
  void append(const RowBlock&, std::string_view) override {}
  void finish() override {}

 private:
  void map() {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) fail(ErrorKind::memory, "no memory for the weights");
    madvise(memory_, bytes_, MADV_HUGEPAGE);
  }

  std::size_t bytes_;
  void* memory_ = nullptr;
};

Problem::Problem(const Shape4& shape) : shape_(shape) {
  const MemoryBudget budget;
  query_ = make_array(shape.dtype, {shape.batch, shape.heads, shape.queries, shape.head_size}, budget, "query");
  output_ = make_array(shape.dtype, query_.shape, budget, "output");
  // Keys, then values, in one piece, so that reading the same bytes can be timed.
  cache_ = make_array(shape.dtype, {2, shape.batch, shape.kv_heads, shape.keys, shape.head_size}, budget, "keys and values");
  fill(query_, 1);
  fill(cache_, 2);
  std::memset(output_.bytes.data(), 0, output_.bytes.size());
  inputs.query = view_of(query_, shape, shape.heads, shape.queries, 0);
  inputs.key = view_of(cache_, shape, shape.kv_heads, shape.keys, 0);
  inputs.value = view_of(cache_, shape, shape.kv_heads, shape.keys, cache_.size() / 2);
  options.kernel = "tiled";
}

void Problem::add_mask(MaskKind kind, double density) {
  const MemoryBudget budget;
  mask_ = make_array(DType::f32, {shape_.queries, shape_.keys}, budget, "mask");
  fill(mask_, 3);
  float* cells = mask_.data<float>();
  if (kind != MaskKind::add)
    for (Index i = 0; i < mask_.size(); ++i) cells[i] = static_cast<double>(cells[i]) < 3.4 * density - 1.7 ? 1.0f : 0.0f;
  inputs.masks.arrays.push_back({&mask_, kind, "mask"});
}

void Problem::want_weights(bool fresh) {
  const Index rows = shape_.batch * shape_.heads * shape_.queries;
  weights_ = std::make_shared<MemorySink>(static_cast<std::size_t>(rows * shape_.keys) * item_size(shape_.dtype));
  fresh_ = fresh;
}

void Problem::renew() {
  if (weights_ && fresh_) weights_->renew();
}

void Problem::run(int threads) {
  AttentionOutputs outputs;
  MutableTensorView output;
  output.dtype = shape_.dtype;
  output.data = output_.bytes.data();
  output.row_stride = shape_.head_size;
  output.head_stride = shape_.queries * shape_.head_size;
  output.batch_stride = shape_.heads * output.head_stride;
  outputs.output = output;
  if (weights_) outputs.weights.sinks.push_back(weights_.get());
  RunContext run;
  run.threads = threads;
  attend(inputs, options, outputs, run);
}

double Problem::error_of_samples() const {
  if (shape_.dtype != DType::f32) return 0;
  const Index n = shape_.queries, m = shape_.keys, d = shape_.head_size;
  double worst = 0;
  for (Index sample = 0; sample < 7; ++sample) {
    const Index h = sample % shape_.heads, i = sample * 977 % n, g = h / (shape_.heads / shape_.kv_heads);
    const float* const q = inputs.query.row<float>(0, h, i);
    std::vector<double> weights(static_cast<std::size_t>(m), 0.0);
    double sum = 0;
    for (Index j = 0; j < m; ++j) {
      const bool seen = !inputs.masks.causal || j <= i;
      const bool near = inputs.masks.window_left < 0 || j >= i - inputs.masks.window_left;
      if (!seen || !near) continue;
      double score = 0;
      for (Index c = 0; c < d; ++c) score += double(q[c]) * double(inputs.key.row<float>(0, g, j)[c]);
      score /= std::sqrt(static_cast<double>(d));
      if (options.softcap > 0) score = options.softcap * std::tanh(score / options.softcap);
      // Slopes 2^(-8(h+1)/H), as for a power of two of heads.
      if (inputs.masks.alibi) score -= std::exp2(-8.0 * double(h + 1) / double(shape_.heads)) * std::abs(double(i - j));
      if (!inputs.masks.arrays.empty()) {
        const double cell = static_cast<double>(mask_.data<float>()[i * m + j]);
        if (inputs.masks.arrays[0].kind == MaskKind::keep && cell == 0) continue;
        if (inputs.masks.arrays[0].kind == MaskKind::add) score += cell;
      }
      sum += weights[static_cast<std::size_t>(j)] = std::exp(score);
    }
    for (Index c = 0; c < d; ++c) {
      double exact = 0, size = 0;
      for (Index j = 0; j < m; ++j) {
        const double part = weights[static_cast<std::size_t>(j)] / sum * double(inputs.value->row<float>(0, g, j)[c]);
        exact += part, size += std::abs(part);
      }
      worst = std::max(worst, std::abs(exact - double(output_.data<float>()[(h * n + i) * d + c])) / size);
    }
  }
  return worst;
}

}  // namespace attn::bench
