#include <cmath>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "base/counted.hpp"
#include "core/input_checks.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// "query (q.csv)"
std::string named(std::string_view what, const TensorView& view) {
  return view.origin.empty() ? std::string(what) : concat(what, " (", printable(view.origin, 80), ")");
}

void check_heads(const AttentionInputs& inputs) {
  const Index heads = inputs.query.heads, kv_heads = inputs.key.heads, d = inputs.query.columns;
  if (heads < 1 || kv_heads < 1)
    fail(ErrorKind::mismatch, counted(heads, "query head"), " and ", counted(kv_heads, "key/value head"),
         "; at least 1 of each is needed");
  if (heads % kv_heads != 0)
    fail(ErrorKind::mismatch, counted(heads, "query head"), " (width ", heads * d, ") cannot share ",
         counted(kv_heads, "key/value head"), " (width ", kv_heads * inputs.key.columns,
         "); the number of key/value heads must divide the number of query heads");
}

void check_value(const TensorView& key, const TensorView& value) {
  if (value.rows != key.rows)
    fail(ErrorKind::mismatch, named("key", key), " has ", counted(key.rows, "row"), " but ", named("value", value), " has ",
         value.rows, "; there must be one value for each key");
  if (value.heads != key.heads)
    fail(ErrorKind::mismatch, named("key", key), " has ", counted(key.heads, "head"), " but ", named("value", value), " has ",
         value.heads);
  if (value.batch != key.batch)
    fail(ErrorKind::mismatch, named("key", key), " has ", counted(key.batch, "batch item"), " but ", named("value", value),
         " has ", value.batch);
}

}  // namespace

AttentionSizes check_sizes(const AttentionInputs& inputs) {
  const TensorView &query = inputs.query, &key = inputs.key;
  if (query.dtype != key.dtype || (inputs.value && inputs.value->dtype != key.dtype))
    fail(ErrorKind::internal, "query, key and value come in different precisions");
  check_heads(inputs);
  if (query.columns != key.columns)
    fail(ErrorKind::mismatch, named("query", query), " has ", counted(query.columns, "column"), " in each head but ",
         named("key", key), " has ", key.columns, "; they must match");
  if (query.columns < 1)
    fail(ErrorKind::mismatch, "the head size is 0: ", named("query", query), " has ", query.rows,
         " rows of 0 columns; at least 1 is "
         "needed");
  if (query.batch != key.batch)
    fail(ErrorKind::mismatch, named("query", query), " has ", counted(query.batch, "batch item"), " but ", named("key", key),
         " has ", key.batch);
  if (inputs.value) check_value(key, *inputs.value);
  if (inputs.masks.past < 0 || inputs.masks.past > key.rows)
    fail(ErrorKind::mismatch, "a past of ", inputs.masks.past, " keys does not lie within the ", key.rows, " keys");
  return {query.batch, query.heads, key.heads, query.rows, key.rows, query.columns, inputs.value ? inputs.value->columns : 0};
}

void check_options(const AttentionOptions& options) {
  if (options.scale && !std::isfinite(*options.scale))
    fail(ErrorKind::usage, "the scale is ", format_number(*options.scale), "; a finite number is expected");
  if (!std::isfinite(options.softcap) || options.softcap < 0)
    fail(ErrorKind::usage, "the softcap is ", format_number(options.softcap),
         "; 0 (off) or a positive finite number is expected");
}

void check_sinks(const AttentionInputs& inputs, const AttentionSizes& sizes, bool allow_nonfinite) {
  const Index count = static_cast<Index>(inputs.sinks.size());
  if (count != 0 && count != sizes.heads)
    fail(ErrorKind::mismatch, counted(count, "sink"), count == 1 ? " is" : " are", " given for ", counted(sizes.heads, "head"),
         "; one for each head is expected");
  for (Index head = 0; head < count && !allow_nonfinite; ++head) {
    const double sink = inputs.sinks[static_cast<std::size_t>(head)];
    if (!std::isfinite(sink))
      fail(ErrorKind::mismatch, "sinks: the sink of head ", head, " is ", format_number(sink), "; a finite number is expected");
  }
}

}  // namespace v1
}  // namespace attn
