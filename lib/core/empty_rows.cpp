#include "core/empty_rows.hpp"

#include <algorithm>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Index kQueriesAtOnce = 64;
constexpr int kRangesShown = 8;

void append_row(std::vector<Range>& ranges, Index query) {
  if (!ranges.empty() && ranges.back().end == query)
    ++ranges.back().end;
  else
    ranges.push_back({query, query + 1});
}

std::vector<Range> empty_rows_of_head(const MaskSet& masks, const AttentionSizes& sizes, Index batch, Index head) {
  std::vector<Range> empty;
  for (Index begin = 0; begin < sizes.queries; begin += kQueriesAtOnce) {
    const QueryBlock block{batch, head, {begin, std::min(begin + kQueriesAtOnce, sizes.queries)}};
    if (masks.coverage(block, {0, sizes.keys}) == Coverage::all) continue;
    for (Index query = block.queries.begin; query < block.queries.end; ++query)
      if (masks.row_is_empty(batch, head, query)) append_row(empty, query);
  }
  return empty;
}

}  // namespace

EmptyRowList find_empty_rows(const MaskSet& masks, const AttentionSizes& sizes) {
  EmptyRowList list;
  if (sizes.keys > 0 && !masks.blocks()) return list;
  const Index heads = masks.varies_by_head() ? sizes.heads : 1;
  for (Index batch = 0; batch < sizes.batch; ++batch)
    for (Index head = 0; head < heads; ++head) {
      std::vector<Range> queries = empty_rows_of_head(masks, sizes, batch, head);
      if (queries.empty()) continue;
      for (const Range& range : queries) list.count += (range.end - range.begin) * (sizes.heads / heads);
      list.heads.push_back({batch, head, std::move(queries)});
    }
  return list;
}

std::string EmptyRowList::text(const AttentionSizes& sizes, bool varies_by_head) const {
  std::string text;
  int shown = 0;
  for (const EmptyRowsOfHead& rows : heads) {
    if (!text.empty()) text += "; ";
    if (shown == kRangesShown) return text + "...";
    if (sizes.batch > 1) text += concat("batch ", rows.batch, varies_by_head && sizes.heads > 1 ? ", " : ": ");
    if (varies_by_head && sizes.heads > 1) text += concat("head ", rows.head, ": ");
    const bool single = rows.queries.size() == 1 && rows.queries[0].end - rows.queries[0].begin == 1;
    text += single ? "query row " : "query rows ";
    for (std::size_t i = 0; i < rows.queries.size(); ++i) {
      if (i > 0) text += ", ";
      if (shown++ == kRangesShown) return text + "...";
      const Range range = rows.queries[i];
      text += range.end - range.begin == 1 ? concat(range.begin) : concat(range.begin, "-", range.end - 1);
    }
  }
  return text;
}

}  // namespace v1
}  // namespace attn
