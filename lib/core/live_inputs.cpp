#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "base/parallel.hpp"
#include "core/input_checks.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Index kQueriesAtOnce = 64;

/// One row of a view: [batch, head, row].
struct RowPlace {
  Index batch, head, row;
};

/// By the bits: an exponent of all ones is an infinity or NaN. Whole-number tests run eight and more at a time.
bool all_finite(const float* row, Index count) {
  std::uint32_t bad = 0;
  for (Index c = 0; c < count; ++c) bad |= (std::bit_cast<std::uint32_t>(row[c]) & 0x7f800000u) == 0x7f800000u;
  return bad == 0;
}
bool all_finite(const double* row, Index count) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000u;
  std::uint64_t bad = 0;
  for (Index c = 0; c < count; ++c) bad |= (std::bit_cast<std::uint64_t>(row[c]) & kExponent) == kExponent;
  return bad == 0;
}

bool row_is_finite(const TensorView& view, const RowPlace& at) {
  return view.dtype == DType::f32 ? all_finite(view.row<float>(at.batch, at.head, at.row), view.columns)
                                  : all_finite(view.row<double>(at.batch, at.head, at.row), view.columns);
}

/// Rows with a NaN or infinity, in order. Usually none: the whole view is looked at once, by all threads.
std::vector<RowPlace> nonfinite_rows(const TensorView& view, const RunContext& run) {
  constexpr Index kRowsAtOnce = 256;
  const Index pieces = (view.rows + kRowsAtOnce - 1) / kRowsAtOnce;
  std::vector<std::vector<RowPlace>> found(static_cast<std::size_t>(view.batch * view.heads * pieces));
  parallel_for(static_cast<Index>(found.size()), run.threads, [&](Index task, int) {
    const Index plane = task / pieces, begin = task % pieces * kRowsAtOnce;
    for (Index row = begin; row < std::min(begin + kRowsAtOnce, view.rows); ++row) {
      const RowPlace at{plane / view.heads, plane % view.heads, row};
      if (!row_is_finite(view, at)) found[static_cast<std::size_t>(task)].push_back(at);
    }
  });
  std::vector<RowPlace> rows;
  for (const std::vector<RowPlace>& piece : found) rows.insert(rows.end(), piece.begin(), piece.end());
  return rows;
}

/// Which keys some query of the heads [heads.begin, heads.end) may see.
std::vector<std::uint8_t> live_keys(const MaskSet& masks, const AttentionSizes& sizes, Index batch, Range heads) {
  std::vector<std::uint8_t> live(static_cast<std::size_t>(sizes.keys), 0), allowed(live.size());
  for (Index head = heads.begin; head < heads.end; ++head)
    for (Index begin = 0; begin < sizes.queries; begin += kQueriesAtOnce) {
      const QueryBlock block{batch, head, {begin, std::min(begin + kQueriesAtOnce, sizes.queries)}};
      const Range keys = masks.visible_keys(block);
      if (keys.empty()) continue;
      if (masks.coverage(block, keys) == Coverage::all) {
        std::fill(live.begin() + keys.begin, live.begin() + keys.end, std::uint8_t{1});
        continue;
      }
      for (Index query = block.queries.begin; query < block.queries.end; ++query) {
        masks.allowed(batch, head, query, keys, allowed.data());
        for (Index key = keys.begin; key < keys.end; ++key)
          live[static_cast<std::size_t>(key)] |= allowed[static_cast<std::size_t>(key - keys.begin)];
      }
    }
  return live;
}

[[noreturn]] void refuse(std::string_view what, const TensorView& view, const RowPlace& at) {
  Index column = 0;
  double value = 0;
  for (; column < view.columns; ++column) {
    value = view.dtype == DType::f32 ? static_cast<double>(view.row<float>(at.batch, at.head, at.row)[column])
                                     : view.row<double>(at.batch, at.head, at.row)[column];
    if (!std::isfinite(value)) break;
  }
  fail(ErrorKind::mismatch, view.origin.empty() ? std::string(what) : printable(view.origin), ": ",
       view.batch > 1 ? concat("batch ", at.batch, ", ") : "", view.heads > 1 ? concat("head ", at.head, ", ") : "", "row ",
       at.row, ", column ", column, " is ", format_number(value), "; finite numbers are expected where attention reads ",
       "(--allow-nonfinite carries others through)");
}

void check_key_rows(std::string_view what, const TensorView& view, const AttentionSizes& sizes, const MaskSet& masks,
                    const RunContext& run) {
  const Index group = sizes.heads / sizes.kv_heads;
  std::vector<std::uint8_t> live;
  Index batch = -1, head = -1;
  for (const RowPlace& at : nonfinite_rows(view, run)) {
    if (at.batch != batch || at.head != head) {
      batch = at.batch, head = at.head;
      live = live_keys(masks, sizes, batch, {head * group, (head + 1) * group});
    }
    if (live[static_cast<std::size_t>(at.row)]) refuse(what, view, at);
  }
}

}  // namespace

void check_live_inputs(const AttentionInputs& inputs, const AttentionSizes& sizes, const MaskSet& masks, const RunContext& run) {
  for (const RowPlace& at : nonfinite_rows(inputs.query, run))
    if (!masks.row_is_empty(at.batch, at.head, at.row)) refuse("query", inputs.query, at);
  check_key_rows("key", inputs.key, sizes, masks, run);
  if (inputs.value) check_key_rows("value", *inputs.value, sizes, masks, run);
}

}  // namespace v1
}  // namespace attn
