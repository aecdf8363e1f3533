#include <cstring>

#include "app/prepare.hpp"
#include "attn/base/error.hpp"
#include "base/counted.hpp"

namespace attn::app {

namespace {

/// "key (k.csv)".
std::string named(std::string_view role, const Tensor& tensor) { return concat(role, " (", tensor.origin, ")"); }

void check_rank(std::string_view role, const Tensor& tensor) {
  const Index rank = tensor.array->rank();
  if (rank < 2 || rank > 4)
    fail(ErrorKind::mismatch, named(role, tensor), " has shape ", shape_text(tensor.array->shape),
         "; expected [n,d], [B,n,H*d] or [B,H,n,d]");
}

void check_same_form(std::string_view role, const Tensor& tensor, const Tensor& query) {
  check_rank(role, tensor);
  const Shape& shape = tensor.array->shape;
  const Shape& wanted = query.array->shape;
  if (shape.size() != wanted.size())
    fail(ErrorKind::mismatch, named(role, tensor), " has rank ", shape.size(), " and query (", query.origin, ") has rank ",
         wanted.size(), "; they must match");
  if (shape.size() > 2 && shape[0] != wanted[0])
    fail(ErrorKind::mismatch, named(role, tensor), " has ", counted(shape[0], "batch item"), " and query (", query.origin,
         ") has ", wanted[0], "; they must match");
}

Index head_axis(const Array& array, TensorLayout layout) { return array.shape[layout == TensorLayout::bhnd ? 1 : 2]; }

/// Heads of the query: the axis of rank 4, else --heads.
Index query_heads(const ComputeRequest& request, const Tensor& query, TensorLayout layout) {
  if (query.array->rank() < 4) return request.heads.value_or(1);
  const Index heads = head_axis(*query.array, layout);
  if (request.heads && *request.heads != heads)
    fail(ErrorKind::mismatch, "--heads ", *request.heads, ", but ", named("query", query), " of shape ",
         shape_text(query.array->shape), " has ", counted(heads, "head"));
  if (heads == 0) fail(ErrorKind::mismatch, named("query", query), " of shape ", shape_text(query.array->shape), " has 0 heads");
  return heads;
}

Index query_head_size(const Tensor& query, Index heads) {
  const Index width = width_of(*query.array);
  if (width == 0) fail(ErrorKind::mismatch, named("query", query), " has 0 columns, expected at least 1");
  if (query.array->rank() == 4) return width;
  if (width % heads != 0)
    fail(ErrorKind::mismatch, heads, " heads do not divide the ", width, " columns of ", named("query", query));
  return width / heads;
}

[[noreturn]] void fail_key_width(const Tensor& key, const Tensor& query, const AttentionShape& shape) {
  const Index width = width_of(*key.array);
  if (shape.heads == 1)
    fail(ErrorKind::mismatch, named("key", key), " has ", counted(width, "column"), " but ", named("query", query), " has ",
         shape.head_size, "; they must match");
  fail(ErrorKind::mismatch, named("key", key), " has ", width, " columns, which are no heads of size ", shape.head_size,
       " as the ", shape.heads, " of ", named("query", query), " are");
}

/// G: the axis of rank 4, --kv-heads, or as many heads of size d as the key has.
Index key_heads(const ComputeRequest& request, const Tensor& key, const Tensor& query, const AttentionShape& shape) {
  const Index width = width_of(*key.array);
  if (key.array->rank() == 4) {
    if (width != shape.head_size)
      fail(ErrorKind::mismatch, named("key", key), " has head size ", width, " but ", named("query", query), " has ",
           shape.head_size, "; they must match");
    const Index heads = head_axis(*key.array, shape.layout);
    if (request.kv_heads && *request.kv_heads != heads)
      fail(ErrorKind::mismatch, "--kv-heads ", *request.kv_heads, ", but ", named("key", key), " has ", counted(heads, "head"));
    return heads;
  }
  if (width == 0) fail(ErrorKind::mismatch, named("key", key), " has 0 columns, expected ", shape.head_size, " for each head");
  if (request.kv_heads && width != *request.kv_heads * shape.head_size)
    fail(ErrorKind::mismatch, "--kv-heads ", *request.kv_heads, " of head size ", shape.head_size, " need ",
         *request.kv_heads * shape.head_size, " columns, but ", named("key", key), " has ", width);
  const bool single = shape.heads == 1 && width != shape.head_size;
  if (width % shape.head_size != 0 || (single && !request.kv_heads)) fail_key_width(key, query, shape);
  return width / shape.head_size;
}

Index value_head_size(const Tensor& value, const AttentionShape& shape) {
  const Index width = width_of(*value.array);
  if (width == 0) fail(ErrorKind::mismatch, named("value", value), " has 0 columns, expected at least 1");
  if (value.array->rank() == 4) {
    const Index heads = head_axis(*value.array, shape.layout);
    if (heads != shape.kv_heads)
      fail(ErrorKind::mismatch, named("value", value), " has ", counted(heads, "head"), " but the key has ", shape.kv_heads,
           "; they must match");
    return width;
  }
  if (width % shape.kv_heads != 0)
    fail(ErrorKind::mismatch, shape.kv_heads, " key/value heads do not divide the ", width, " columns of ",
         named("value", value));
  return width / shape.kv_heads;
}

}  // namespace

Index width_of(const Array& array) { return array.shape.back(); }

Index row_count(const Array& array, TensorLayout layout) {
  if (array.rank() == 4 && layout == TensorLayout::bnhd) return array.shape[1];
  return array.shape[array.shape.size() - 2];
}

TensorView split_heads(const Array& array, Index heads, TensorLayout layout, const std::string& origin) {
  TensorView view;
  view.dtype = array.dtype;
  view.data = array.bytes.data();
  view.origin = origin;
  view.heads = heads;
  view.rows = row_count(array, layout);
  view.batch = array.rank() == 2 ? 1 : array.shape[0];
  view.columns = array.rank() == 4 ? width_of(array) : width_of(array) / heads;
  if (array.rank() == 4 && layout == TensorLayout::bhnd) {
    view.row_stride = view.columns;
    view.head_stride = view.rows * view.columns;
  } else {
    view.row_stride = heads * view.columns;
    view.head_stride = view.columns;
  }
  view.batch_stride = heads * view.rows * view.columns;
  return view;
}

AttentionShape resolve_shape(const ComputeRequest& request, const Tensor& query, const Tensor& key, const Tensor* value) {
  check_rank("query", query);
  check_same_form("key", key, query);
  if (value) check_same_form("value", *value, query);
  AttentionShape shape;
  shape.rank = query.array->rank();
  shape.layout = shape.rank == 4 ? request.layout.value_or(TensorLayout::bhnd) : TensorLayout::bhnd;
  shape.batch = shape.rank == 2 ? 1 : query.array->shape[0];
  shape.heads = query_heads(request, query, shape.layout);
  shape.head_size = query_head_size(query, shape.heads);
  shape.kv_heads = key_heads(request, key, query, shape);
  if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0)
    fail(ErrorKind::mismatch, counted(shape.kv_heads, "key/value head"), shape.kv_heads == 1 ? " does" : " do", " not divide ",
         counted(shape.heads, "query head"), " (", named("key", key), ": ", width_of(*key.array), " columns; ",
         named("query", query), ": ", width_of(*query.array), ")");
  shape.queries = row_count(*query.array, shape.layout);
  shape.keys = row_count(*key.array, shape.layout);
  if (!value) return shape;
  shape.value_size = value_head_size(*value, shape);
  const Index rows = row_count(*value->array, shape.layout);
  if (rows != shape.keys)
    fail(ErrorKind::mismatch, named("key", key), " has ", counted(shape.keys, "row"), " and ", named("value", *value), " has ",
         rows, "; they must match");
  return shape;
}

namespace {

/// A past tensor as [B,G,p,d], and the layout in which it stands if it is of rank 4.
struct PastView {
  TensorView view;
  TensorLayout layout;
  bool either = false;  ///< it could as well stand in the other layout
};

/// The past is [B,G,p,d] for any query, or of the form of the new keys.
PastView past_view(const Source& past, const Tensor& fresh, const TensorView& fresh_view, TensorLayout layout,
                   std::string_view name) {
  const Array& array = *past.array;
  const auto fits = [&](const TensorView& view) {
    return view.batch == fresh_view.batch && view.heads == fresh_view.heads && view.columns == fresh_view.columns;
  };
  if (array.rank() == 4) {
    // In a run of layout bnhd the past has the form of the new keys, unless only [B,G,p,d] fits.
    const auto as = [&](TensorLayout form) { return split_heads(array, head_axis(array, form), form, past.origin); };
    const bool plain = fits(as(TensorLayout::bhnd));
    if (fits(as(layout))) return {as(layout), layout, plain && layout != TensorLayout::bhnd && fresh_view.heads > 1};
    if (plain) return {as(TensorLayout::bhnd), TensorLayout::bhnd};
  } else if (array.rank() == fresh.array->rank() && width_of(array) == fresh_view.heads * fresh_view.columns) {
    const TensorView view = split_heads(array, fresh_view.heads, layout, past.origin);
    if (fits(view)) return {view, layout};
  }
  fail(ErrorKind::mismatch, name, " (", past.origin, ") has shape ", shape_text(array.shape), "; expected [", fresh_view.batch,
       ",", fresh_view.heads, ",p,", fresh_view.columns, "] or the form of ", fresh.origin, " ", shape_text(fresh.array->shape));
}

/// Copies the rows of one view into another's memory, from its row `first_row` on.
void copy_rows(const TensorView& from, const TensorView& to, std::byte* target, Index first_row) {
  const auto size = static_cast<Index>(item_size(from.dtype));
  const auto bytes = static_cast<std::size_t>(from.columns * size);
  const auto* source = static_cast<const std::byte*>(from.data);
  for (Index b = 0; b < from.batch; ++b)
    for (Index h = 0; h < from.heads; ++h)
      for (Index r = 0; r < from.rows; ++r)
        std::memcpy(target + (b * to.batch_stride + h * to.head_stride + (first_row + r) * to.row_stride) * size,
                    source + (b * from.batch_stride + h * from.head_stride + r * from.row_stride) * size, bytes);
}

}  // namespace

Joined put_past_first(const Source& past, const Tensor& fresh, const AttentionShape& shape, std::string_view name,
                      const MemoryBudget& budget) {
  const TensorView rows = split_heads(*fresh.array, shape.kv_heads, shape.layout, fresh.origin);
  const PastView old = past_view(past, fresh, rows, shape.layout, name);
  Shape form = past.array->shape;
  form[form.size() == 4 && old.layout == TensorLayout::bnhd ? 1 : form.size() - 2] = old.view.rows + rows.rows;
  auto array = std::make_shared<Array>(make_array(fresh.array->dtype, form, budget, concat(name, " and the new rows")));
  const TensorView view = split_heads(*array, shape.kv_heads, old.layout, fresh.origin);
  copy_rows(old.view, view, array->bytes.data(), 0);
  copy_rows(rows, view, array->bytes.data(), old.view.rows);
  std::string note;
  if (old.either)
    note = concat(name, " ", shape_text(past.array->shape),
                  " may be [B,p,G,d] or [B,G,p,d]; it is read as [B,p,G,d], the form of ", fresh.origin);
  return {std::move(array), view, old.view, std::move(note)};
}

}  // namespace attn::app
