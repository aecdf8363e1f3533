#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attn/base/array.hpp"
#include "attn/base/row_sink.hpp"
#include "attn/base/run.hpp"

namespace attn {
inline namespace v1 {

// Letters as in "Attention Is All You Need": B batch items, H query heads, G key/value heads, n queries, m keys,
// d head size of query and key, v head size of value.

/// A read-only view of [batch, head, row, column]; columns are contiguous, strides count elements.
struct TensorView {
  DType dtype = DType::f64;  ///< f32 or f64; the same for query, key and value
  const void* data = nullptr;
  Index batch = 1;
  Index heads = 1;
  Index rows = 0;
  Index columns = 0;
  Index batch_stride = 0;
  Index head_stride = 0;
  Index row_stride = 0;
  /// For messages: where the numbers came from, such as "q.csv" or "doc.json:/query".
  std::string origin;

  /// The first column of a row. Not checked: T must be what `dtype` says.
  template <typename T>
  const T* row(Index b, Index h, Index r) const {
    return static_cast<const T*>(data) + b * batch_stride + h * head_stride + r * row_stride;
  }
};

/// The same, to be written to.
struct MutableTensorView {
  DType dtype = DType::f64;
  void* data = nullptr;
  Index batch_stride = 0;
  Index head_stride = 0;
  Index row_stride = 0;

  /// The first column of a row. Not checked: T must be what `dtype` says.
  template <typename T>
  T* row(Index b, Index h, Index r) const {
    return static_cast<T*>(data) + b * batch_stride + h * head_stride + r * row_stride;
  }
};

/// What a mask array says: 1 keeps a cell, 1 blocks it, or a number that is added to its score (-inf blocks).
enum class MaskKind { keep, block, add };
/// Where the diagonal of a causal mask begins: query 0 sees the past and key 0, or the last query sees the last key.
enum class Align { top_left, bottom_right };
/// What the weights of a row without any allowed key are: 0, NaN, or ErrorKind::mismatch.
enum class EmptyRows { zero, nan, error };
/// Scores as scale · Q Kᵀ, after the softcap, or with biases added and blocked cells -inf.
enum class Stage { raw, capped, masked };
/// What one matrix is made of those of the chosen heads; none keeps them all.
enum class Reduce { none, mean, max, min };

/// One array of --mask or --bias. It broadcasts from the right to [B,H,n,m]: rank 1 is [m], rank 2 [n,m],
/// rank 3 [H,n,m]; any axis may be 1.
struct MaskArray {
  const Array* array = nullptr;  ///< any dtype; keep and block take 0, 1, true, false only
  MaskKind kind = MaskKind::keep;
  std::string origin;  ///< for messages: "mask.npy", "doc.json:/mask"
};

/// Which keys a query may see, and what is added to its scores. Masks intersect; biases add.
struct MaskOptions {
  bool causal = false;
  /// j <= p + 0, with p = i + offset. Unset: the length of the past (top-left).
  std::optional<Align> align;
  std::optional<Index> query_offset;  ///< past included; not together with align
  Index past = 0;                     ///< how many of the m keys come from a cache
  Index window_left = -1;             ///< keys before p that are seen; -1 leaves the side open
  Index window_right = -1;
  Index prefix = 0;  ///< with causal: keys below it are seen by every query
  std::vector<MaskArray> arrays;
  std::vector<Index> key_lengths;      ///< empty, one for all, or one per batch item; each 0..m
  std::vector<Index> key_documents;    ///< empty, m ids, or B·m ids
  std::vector<Index> query_documents;  ///< empty (those of the keys, n = m), n ids, or B·n ids
  bool alibi = false;                  ///< bias -slope(h)·|p - j|
};

/// What attention is computed of. Views and pointers must stay valid during the call; query, key and value have one dtype.
struct AttentionInputs {
  TensorView query;                 ///< [B,H,n,d]
  TensorView key;                   ///< [B,G,m,d], past first
  std::optional<TensorView> value;  ///< [B,G,m,v]
  std::vector<double> sinks;        ///< empty or H logits
  MaskOptions masks;
};

/// How it is computed.
struct AttentionOptions {
  std::optional<double> scale;  ///< 1/sqrt(d) when unset
  double softcap = 0;           ///< 0 is off
  EmptyRows empty_rows = EmptyRows::zero;
  bool allow_nonfinite = false;
  std::string kernel = "auto";  ///< "auto" or a name of kernel_names()
  std::string simd;             ///< "" for the best this CPU has, or "sse2", "avx2", "avx512", "neon"
};

/// Where the weights of chosen heads go. Rows are numbered (batch · heads chosen + place in `heads`) · n + query, or
/// batch · n + query when the heads are reduced to one.
struct WeightOutput {
  std::vector<RowSink*> sinks;
  std::vector<Index> heads;  ///< empty: all, in order
  Reduce reduce = Reduce::none;
};

/// What is wanted of a run; whatever is left empty is not computed.
struct AttentionOutputs {
  WeightOutput weights;
  std::vector<RowSink*> scores;  ///< [B,H,n] rows of m, all heads
  Stage stage = Stage::raw;
  std::optional<MutableTensorView> output;  ///< [B,H,n,v]
  std::optional<MutableTensorView> lse;     ///< [B,H,n] rows of one column; sink included, -inf for an empty row
};

/// What happened, for people. Notes are whole sentences, each once.
struct AttentionReport {
  std::vector<std::string> notes;
  std::string kernel;     ///< "reference", "tiled"
  std::string simd;       ///< "avx2"; empty for the reference
  double scale = 0;       ///< the scale used
  std::string mask_text;  ///< the masks in words: "causal, top-left; window 2,0"; "none"
  Index empty_rows = 0;   ///< rows in which no key is allowed, over all batch items and heads
};

/// softmax(softcap(scale · Q Kᵀ) + biases, masked) · V for every batch item and head.
/// Checks that shapes fit, that live inputs are finite (unless allowed), and that scores stay within the precision:
/// ErrorKind::mismatch otherwise, naming both numbers, or the query and the key.
/// The same bytes for every number of threads.
AttentionReport attend(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                       const RunContext& run);

/// The part of `attend` that looks at shapes and masks alone: refuses what does not fit before outputs are opened, and
/// gives the notes, scale and mask text that are known without computing. Throws as `attend` does.
AttentionReport check_attention(const AttentionInputs& inputs, const AttentionOptions& options);

/// Which cells the masks allow, rows numbered like the rows of WeightOutput (a reduced cell is allowed if any of its
/// heads allows it). Null if every cell is allowed. Keeps references to the arrays of the masks.
std::unique_ptr<Visibility> make_visibility(const AttentionInputs& inputs, const std::vector<Index>& heads, Reduce reduce);

/// Names of the kernels, fastest first; "reference" is the last.
std::vector<std::string> kernel_names();
/// The instruction sets the tiled kernel was built for, best first: "avx512", "avx2", "sse2".
std::vector<std::string> simd_names();
/// The first of them that this CPU can run.
std::string best_simd();
/// Whether this CPU can run it; false for a name that is not among them.
bool simd_runs(const std::string& name);

}  // namespace v1
}  // namespace attn
