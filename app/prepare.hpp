#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute_args.hpp"
#include "app/document.hpp"
#include "app/inputs.hpp"
#include "attn/core/attention.hpp"
#include "attn/core/projection.hpp"

namespace attn::app {

/// One input as it was read: numbers of the run's precision, or as in the file for masks, biases and sinks.
struct Source {
  std::shared_ptr<const Array> array;
  std::string origin;               ///< "q.csv", "doc.json:/query"
  std::string member;               ///< name in its file, or ""
  std::vector<std::string> labels;  ///< of its rows, where the file has some
  bool is_text = false;
  bool from_option = false;
};

/// Everything that was given, whichever way.
struct Sources {
  std::map<Input, Source> arrays;
  std::vector<std::string> tokens, key_tokens;  ///< empty: not given
  std::string tokens_where, key_tokens_where;
  std::vector<Index> key_lengths, documents, query_documents;
  DType dtype = DType::f64;  ///< of the run

  bool has(Input input) const { return arrays.contains(input); }
  const Source& at(Input input) const { return arrays.at(input); }
};

/// Reads all inputs. Options win over --projections, and that over the document. Throws `usage` or `malformed` for
/// inputs that contradict each other or lack one, `mismatch` for numbers beyond the precision.
Sources load_sources(const ComputeRequest& request, const Document& document, InputFiles& files);

/// One of query, key, value: what attention reads, and where its rows came from.
struct Tensor {
  std::shared_ptr<const Array> array;  ///< rank 2 to 4, after its projection
  Source source;                       ///< before its projection
  bool projected = false;
  std::string origin;  ///< for messages; the source's, with the weight if projected
};

/// Sizes in the letters of attention.hpp, and the form of the query.
struct AttentionShape {
  Index rank = 2;  ///< of the query as given
  TensorLayout layout = TensorLayout::bhnd;
  Index batch = 1, heads = 1, kv_heads = 1;
  Index queries = 0, keys = 0, past = 0;
  Index head_size = 0, value_size = 0;
};

/// Everything attention needs, with the arrays its views point into.
struct Prepared {
  Sources sources;
  AttentionShape shape;
  Tensor query, key;
  std::optional<Tensor> value;
  /// Past and new keys in the form that --present-key writes; the key itself without a past.
  std::shared_ptr<const Array> present_key, present_value;
  TensorView past_key, past_value;  ///< the parts that were given, if shape.past > 0
  AttentionInputs inputs;
  AttentionOptions options;
  std::optional<Projection> output_projection;  ///< W_O and b_O
  std::shared_ptr<const Array> output_bias;
  AxisLabels labels;
  std::vector<std::string> notes;
};

/// Projects, splits heads, puts the past in front and gathers masks. Throws `mismatch` for inputs that do not fit.
Prepared prepare(const ComputeRequest& request, const Document& document, InputFiles& files);

/// A view of an array as [B,heads,rows,columns]. Rank 2 is [n,heads·d], rank 3 [B,n,heads·d], rank 4 by the layout.
TensorView split_heads(const Array& array, Index heads, TensorLayout layout, const std::string& origin);
/// Rows of an array in the sense of split_heads.
Index row_count(const Array& array, TensorLayout layout);
/// Elements of its last axis: the width of all heads for rank 2 and 3, one head's size for rank 4.
Index width_of(const Array& array);

/// Works out heads and sizes. Throws `mismatch` naming both numbers.
AttentionShape resolve_shape(const ComputeRequest& request, const Tensor& query, const Tensor& key, const Tensor* value);

/// Past and new rows of keys or values in one array, in the form of the past.
struct Joined {
  std::shared_ptr<const Array> array;
  TensorView view;
  TensorView past;   ///< the part that was given
  std::string note;  ///< how it was read, where its shape has two readings
};
/// `name` is "past_key" or "past_value", for messages.
Joined put_past_first(const Source& past, const Tensor& fresh, const AttentionShape& shape, std::string_view name,
                      const MemoryBudget& budget);

/// Refuses NaN and infinity in numbers that reach a result, naming row and column of the file that was given.
void refuse_nonfinite(const Prepared& prepared);
/// The same for numbers that always do: weights, biases, sinks.
void refuse_nonfinite(const Source& source);

}  // namespace attn::app
