#include <algorithm>

#include "attn/base/error.hpp"
#include "core/masks/makers.hpp"
#include "core/masks/positions.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Query at position p sees keys p - left .. p + right; -1 leaves a side open.
class WindowMask final : public Mask {
 public:
  WindowMask(QueryPositions positions, Index left, Index right, Index keys)
      : positions_(std::move(positions)), left_(left), right_(right), keys_(keys) {}

  std::string text() const override {
    const std::string aligned = positions_.text() == "top-left" ? "" : concat(", ", positions_.text());
    return concat("window ", left_, ",", right_, aligned);
  }

  Range visible_keys(const QueryBlock& block) const override {
    const Range first = window(block.batch, block.queries.begin);
    const Range last = window(block.batch, block.queries.end - 1);
    return clip({first.begin, last.end}, keys_);
  }

  Coverage coverage(const QueryBlock& block, Range keys) const override {
    const Range first = window(block.batch, block.queries.begin);
    const Range last = window(block.batch, block.queries.end - 1);
    if (keys.begin >= last.begin && keys.end <= first.end) return Coverage::all;
    return keys.end <= first.begin || keys.begin >= last.end ? Coverage::none : Coverage::some;
  }

  void block(Index batch, Index, Index query, Range keys, std::uint8_t* allowed) const override {
    const Range seen = window(batch, query);
    const Index begin = std::clamp(seen.begin, keys.begin, keys.end);
    const Index end = std::clamp(seen.end, begin, keys.end);
    std::fill(allowed, allowed + (begin - keys.begin), std::uint8_t{0});
    std::fill(allowed + (end - keys.begin), allowed + (keys.end - keys.begin), std::uint8_t{0});
  }

 private:
  /// Not clipped: it may begin before key 0 and end after the last.
  Range window(Index batch, Index query) const {
    const Index position = positions_.of(batch, query);
    return {left_ < 0 ? std::min<Index>(position, 0) : position - left_,
            right_ < 0 ? std::max(position, keys_) : position + right_ + 1};
  }

  QueryPositions positions_;
  Index left_;
  Index right_;
  Index keys_;
};

}  // namespace

void make_window(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  const MaskOptions& options = context.options;
  if (options.window_left < -1 || options.window_right < -1)
    fail(ErrorKind::usage, "the window ", options.window_left, ",", options.window_right,
         " has a negative side; -1 leaves a side open, other numbers count keys");
  if (options.window_left < 0 && options.window_right < 0) return;
  masks.push_back(std::make_unique<WindowMask>(QueryPositions(options, context.sizes),
                                               std::min(options.window_left, kWidestWindow),
                                               std::min(options.window_right, kWidestWindow), context.sizes.keys));
}

}  // namespace v1
}  // namespace attn
