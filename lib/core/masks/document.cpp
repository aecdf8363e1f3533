#include <algorithm>
#include <unordered_map>

#include "attn/base/error.hpp"
#include "core/masks/makers.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// The keys of one document: the range they lie in and whether they fill it.
struct DocumentKeys {
  Range span;
  Index count = 0;

  bool solid() const { return span.end - span.begin == count; }
};

/// Query and key must carry the same document id.
class DocumentMask final : public Mask {
 public:
  /// Ids of all batch items, or of one for all: rows of `sizes.keys` and `sizes.queries` ids.
  DocumentMask(std::vector<Index> key_ids, std::vector<Index> query_ids, const AttentionSizes& sizes)
      : key_ids_(std::move(key_ids)), query_ids_(std::move(query_ids)), sizes_(sizes) {
    const Index shared = sizes.keys + sizes.queries;
    items_ = static_cast<Index>(key_ids_.size() + query_ids_.size()) == shared ? 1 : sizes.batch;
    for (Index item = 0; item < items_; ++item) look_up(item, collect(item));
  }

  std::string text() const override { return "documents"; }

  Range visible_keys(const QueryBlock& block) const override {
    Range seen{0, 0};
    for (Index query = block.queries.begin; query < block.queries.end; ++query) {
      const Range span = seen_by(block.batch, query).span;
      if (span.empty()) continue;
      seen = seen.empty() ? span : Range{std::min(seen.begin, span.begin), std::max(seen.end, span.end)};
    }
    return seen;
  }

  Coverage coverage(const QueryBlock& block, Range keys) const override {
    if (block.queries.empty() || keys.empty()) return Coverage::none;
    const Coverage first = coverage_of(block.batch, block.queries.begin, keys);
    for (Index query = block.queries.begin + 1; query < block.queries.end && first != Coverage::some; ++query)
      if (coverage_of(block.batch, query, keys) != first) return Coverage::some;
    return first;
  }

  void block(Index batch, Index, Index query, Range keys, std::uint8_t* allowed) const override {
    const Index id = query_id(batch, query);
    const Index* const ids = key_ids(batch);
    for (Index key = keys.begin; key < keys.end; ++key) allowed[key - keys.begin] &= ids[key] == id;
  }

 private:
  using Documents = std::unordered_map<Index, DocumentKeys>;

  const Index* key_ids(Index batch) const {
    return key_ids_.data() + (static_cast<Index>(key_ids_.size()) == sizes_.keys ? 0 : batch * sizes_.keys);
  }
  Index query_id(Index batch, Index query) const {
    const Index row = static_cast<Index>(query_ids_.size()) == sizes_.queries ? 0 : batch;
    return query_ids_[static_cast<std::size_t>(row * sizes_.queries + query)];
  }

  Documents collect(Index item) const {
    Documents documents;
    for (Index key = 0; key < sizes_.keys; ++key) {
      DocumentKeys& keys = documents[key_ids(item)[key]];
      if (keys.count++ == 0) keys.span.begin = key;
      keys.span.end = key + 1;
    }
    return documents;
  }

  void look_up(Index item, const Documents& documents) {
    for (Index query = 0; query < sizes_.queries; ++query) {
      const auto found = documents.find(query_id(item, query));
      seen_.push_back(found == documents.end() ? DocumentKeys{} : found->second);
    }
  }

  const DocumentKeys& seen_by(Index batch, Index query) const {
    return seen_[static_cast<std::size_t>((items_ == 1 ? 0 : batch) * sizes_.queries + query)];
  }

  Coverage coverage_of(Index batch, Index query, Range keys) const {
    const DocumentKeys& seen = seen_by(batch, query);
    if (keys.end <= seen.span.begin || keys.begin >= seen.span.end) return Coverage::none;
    const bool inside = keys.begin >= seen.span.begin && keys.end <= seen.span.end;
    return inside && seen.solid() ? Coverage::all : Coverage::some;
  }

  std::vector<Index> key_ids_;
  std::vector<Index> query_ids_;
  AttentionSizes sizes_;
  Index items_ = 1;                 // how many batch items differ
  std::vector<DocumentKeys> seen_;  // [items, queries]: the keys of each query's document
};

void check_count(std::size_t found, Index row, Index batch, std::string_view what) {
  const Index count = static_cast<Index>(found);
  if (count == row || count == batch * row) return;
  fail(ErrorKind::mismatch, count, " document ids are given for ", row, " ", what,
       batch > 1 ? concat(" in each of ", batch, " batch items") : "");
}

}  // namespace

void make_documents(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  const MaskOptions& options = context.options;
  const AttentionSizes& sizes = context.sizes;
  if (options.key_documents.empty() && sizes.keys > 0) {
    if (!options.query_documents.empty())
      fail(ErrorKind::usage, "document ids are given for the queries but not for the keys; --documents gives those");
    return;
  }
  if (options.key_documents.empty()) return;
  check_count(options.key_documents.size(), sizes.keys, sizes.batch, "keys");
  if (options.query_documents.empty() && sizes.queries != sizes.keys)
    fail(ErrorKind::mismatch, "the ", sizes.queries, " queries cannot take the document ids of the ", sizes.keys,
         " keys; --query-documents gives theirs");
  if (!options.query_documents.empty()) check_count(options.query_documents.size(), sizes.queries, sizes.batch, "queries");
  const std::vector<Index>& query_ids = options.query_documents.empty() ? options.key_documents : options.query_documents;
  masks.push_back(std::make_unique<DocumentMask>(options.key_documents, query_ids, sizes));
}

}  // namespace v1
}  // namespace attn
