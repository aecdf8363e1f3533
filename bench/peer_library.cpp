#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "attn/core/attention.hpp"
#include "bench/peak.hpp"

// The attention of this project behind one C function, so that peers.py can call it in its own process between the others.

namespace {

using attn::Index;

/// Copies rows to memory, on the threads that made them.
class MemorySink final : public attn::RowSink {
 public:
  explicit MemorySink(void* memory) : memory_(static_cast<char*>(memory)) {}
  void encode(const attn::RowBlock& rows, std::string&) const override {
    const std::size_t row = static_cast<std::size_t>(rows.columns) * attn::item_size(rows.dtype);
    std::memcpy(memory_ + static_cast<std::size_t>(rows.first) * row, rows.data, static_cast<std::size_t>(rows.count) * row);
  }
  void append(const attn::RowBlock&, std::string_view) override {}
  void finish() override {}

 private:
  char* memory_;
};

attn::TensorView view(const void* data, attn::DType dtype, Index batch, Index heads, Index rows, Index columns) {
  attn::TensorView view;
  view.dtype = dtype;
  view.data = data;
  view.batch = batch, view.heads = heads, view.rows = rows, view.columns = columns;
  view.row_stride = columns, view.head_stride = rows * columns, view.batch_stride = heads * rows * columns;
  return view;
}

}  // namespace

extern "C" {

/// Floating-point operations per second that this many threads reach in registers alone.
double attn_bench_peak(int wide, int threads) { return wide ? attn::bench::peak_f64(threads) : attn::bench::peak_f32(threads); }

/// As peers.py declares it, field by field. Arrays are [B,H,n,d], [B,G,m,d] and [B,G,m,v]; mask and weights may be null.
struct AttnBenchCall {
  const void *query, *key, *value;
  void *output, *weights;
  const float* mask;  // [n,m], added
  long batch, heads, kv_heads, queries, keys, head_size, value_size;
  long window_left;  // -1: none
  int wide;          // float64
  int causal, bottom_right, threads;
};

/// 0, or 1 after a message on stderr.
int attn_bench_run(const AttnBenchCall* call) try {
  const attn::DType dtype = call->wide ? attn::DType::f64 : attn::DType::f32;
  attn::AttentionInputs inputs;
  inputs.query = view(call->query, dtype, call->batch, call->heads, call->queries, call->head_size);
  inputs.key = view(call->key, dtype, call->batch, call->kv_heads, call->keys, call->head_size);
  inputs.value = view(call->value, dtype, call->batch, call->kv_heads, call->keys, call->value_size);
  inputs.masks.causal = call->causal != 0;
  if (call->bottom_right) inputs.masks.align = attn::Align::bottom_right;
  inputs.masks.window_left = call->window_left;
  attn::RunContext run;
  run.threads = call->threads;
  attn::Array mask;
  if (call->mask) {
    mask = attn::make_array(attn::DType::f32, {call->queries, call->keys}, run.budget, "mask");
    std::memcpy(mask.bytes.data(), call->mask, mask.bytes.size());
    inputs.masks.arrays.push_back({&mask, attn::MaskKind::add, "mask"});
  }
  attn::AttentionOutputs outputs;
  const Index v = call->value_size, n = call->queries;
  outputs.output = attn::MutableTensorView{dtype, call->output, call->heads * n * v, n * v, v};
  MemorySink weights(call->weights);
  if (call->weights) outputs.weights.sinks.push_back(&weights);
  attn::attend(inputs, {}, outputs, run);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "attn-bench: %s\n", error.what());
  return 1;
}
}
