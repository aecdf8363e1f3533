#include <algorithm>

#include "attn/base/error.hpp"
#include "base/counted.hpp"
#include "core/masks/makers.hpp"
#include "core/masks/positions.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Keys from the length of a batch item on are padding. Query rows of padding still get weights.
class PaddingMask final : public Mask {
 public:
  PaddingMask(std::vector<Index> lengths, Index keys) : lengths_(std::move(lengths)), keys_(keys) {}

  std::string text() const override {
    const auto [least, most] = std::minmax_element(lengths_.begin(), lengths_.end());
    return *least == *most ? concat("key length ", *least) : concat("key lengths ", *least, " to ", *most);
  }

  Range visible_keys(const QueryBlock& block) const override { return clip({0, length(block.batch)}, keys_); }

  Coverage coverage(const QueryBlock& block, Range keys) const override {
    if (keys.end <= length(block.batch)) return Coverage::all;
    return keys.begin >= length(block.batch) ? Coverage::none : Coverage::some;
  }

  void block(Index batch, Index, Index, Range keys, std::uint8_t* allowed) const override {
    const Index first_blocked = std::clamp(length(batch), keys.begin, keys.end);
    std::fill(allowed + (first_blocked - keys.begin), allowed + (keys.end - keys.begin), std::uint8_t{0});
  }

 private:
  Index length(Index batch) const { return lengths_.size() == 1 ? lengths_[0] : lengths_[static_cast<std::size_t>(batch)]; }

  std::vector<Index> lengths_;  // one for all, or one per batch item
  Index keys_;
};

}  // namespace

void make_padding(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  const std::vector<Index>& lengths = context.options.key_lengths;
  if (lengths.empty()) return;
  const Index count = static_cast<Index>(lengths.size());
  if (count != 1 && count != context.sizes.batch)
    fail(ErrorKind::mismatch, counted(count, "key length"), count == 1 ? " is" : " are", " given for ",
         counted(context.sizes.batch, "batch item"), "; one for all or one for each is expected");
  for (const Index length : lengths)
    if (length < 0 || length > context.sizes.keys)
      fail(ErrorKind::mismatch, "the key length ", length, " does not lie within 0 and the ", context.sizes.keys, " keys");
  masks.push_back(std::make_unique<PaddingMask>(lengths, context.sizes.keys));
}

}  // namespace v1
}  // namespace attn
