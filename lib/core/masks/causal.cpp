#include <algorithm>

#include "attn/base/error.hpp"
#include "base/counted.hpp"
#include "core/masks/makers.hpp"
#include "core/masks/positions.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Query at position p sees key j if j <= p, or if j lies in the prefix.
class CausalMask final : public Mask {
 public:
  CausalMask(QueryPositions positions, Index prefix, Index keys)
      : positions_(std::move(positions)), prefix_(prefix), keys_(keys) {}

  std::string text() const override {
    return concat("causal, ", positions_.text(), prefix_ > 0 ? concat(", prefix ", prefix_) : "");
  }

  Range visible_keys(const QueryBlock& block) const override { return clip({0, end(block.batch, block.queries.end - 1)}, keys_); }

  Coverage coverage(const QueryBlock& block, Range keys) const override {
    if (keys.end <= end(block.batch, block.queries.begin)) return Coverage::all;
    return keys.begin >= end(block.batch, block.queries.end - 1) ? Coverage::none : Coverage::some;
  }

  void block(Index batch, Index, Index query, Range keys, std::uint8_t* allowed) const override {
    const Index first_blocked = std::clamp(end(batch, query), keys.begin, keys.end);
    std::fill(allowed + (first_blocked - keys.begin), allowed + (keys.end - keys.begin), std::uint8_t{0});
  }

 private:
  /// Keys from here on are blocked.
  Index end(Index batch, Index query) const { return std::max(positions_.of(batch, query) + 1, prefix_); }

  QueryPositions positions_;
  Index prefix_;
  Index keys_;
};

}  // namespace

void make_causal(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  const MaskOptions& options = context.options;
  if (options.prefix < 0) fail(ErrorKind::usage, "the prefix ", options.prefix, " is negative");
  if (options.prefix > 0 && !options.causal)
    fail(ErrorKind::usage, "a prefix of ", options.prefix, " keys has a meaning only together with causal");
  if (!options.causal) return;
  const bool silent_choice = !options.align && !options.query_offset && options.past == 0;
  if (silent_choice && context.sizes.queries != context.sizes.keys)
    context.notes.push_back(concat("causal with ", context.sizes.queries,
                                   context.sizes.queries == 1 ? " query and " : " queries and ",
                                   counted(context.sizes.keys, "key"),
                                   " is aligned top-left: query 0 sees key 0 only; --align bottom-right lets the last "
                                   "query see every key"));
  masks.push_back(std::make_unique<CausalMask>(QueryPositions(options, context.sizes), options.prefix, context.sizes.keys));
}

}  // namespace v1
}  // namespace attn
