#include <algorithm>

#include "attn/core/attention.hpp"
#include "core/heads.hpp"
#include "core/input_checks.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Asks the masks; a reduced cell is allowed if any of its heads allows it.
class MaskVisibility final : public Visibility {
 public:
  MaskVisibility(MaskSet masks, const AttentionSizes& sizes, std::vector<Index> heads, bool reduced)
      : masks_(std::move(masks)), sizes_(sizes), heads_(std::move(heads)), reduced_(reduced) {}

  bool allows_all() const {
    for (Index batch = 0; batch < sizes_.batch; ++batch)
      for (const Index head : heads_)
        if (masks_.coverage({batch, head, {0, sizes_.queries}}, {0, sizes_.keys}) != Coverage::all) return false;
    return true;
  }

  void allowed_keys(Index row, std::vector<Range>& ranges) const override {
    const Index query = row % sizes_.queries, plane = row / sizes_.queries;
    const Index places = reduced_ ? 1 : static_cast<Index>(heads_.size());
    const std::size_t place = static_cast<std::size_t>(plane % places);
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(sizes_.keys), 0);
    const std::size_t end = !reduced_ ? place + 1 : (masks_.varies_by_head() ? heads_.size() : 1);
    for (std::size_t i = reduced_ ? 0 : place; i < end; ++i) see(plane / places, heads_[i], query, cells);
    collect(cells, ranges);
  }

 private:
  void see(Index batch, Index head, Index query, std::vector<std::uint8_t>& cells) const {
    const Range keys = masks_.visible_keys({batch, head, {query, query + 1}});
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(keys.end - keys.begin));
    masks_.allowed(batch, head, query, keys, allowed.data());
    for (std::size_t i = 0; i < allowed.size(); ++i) cells[static_cast<std::size_t>(keys.begin) + i] |= allowed[i];
  }

  static void collect(const std::vector<std::uint8_t>& cells, std::vector<Range>& ranges) {
    ranges.clear();
    for (auto from = cells.begin(); (from = std::find(from, cells.end(), 1)) != cells.end();) {
      const auto to = std::find(from, cells.end(), 0);
      ranges.push_back({from - cells.begin(), to - cells.begin()});
      from = to;
    }
  }

  MaskSet masks_;
  AttentionSizes sizes_;
  std::vector<Index> heads_;
  bool reduced_;
};

}  // namespace

std::unique_ptr<Visibility> make_visibility(const AttentionInputs& inputs, const std::vector<Index>& heads, Reduce reduce) {
  const AttentionSizes sizes = check_sizes(inputs);
  std::vector<std::string> notes;  // told by attend
  MaskSet masks(inputs.masks, sizes, true, notes);
  if (!masks.blocks()) return nullptr;
  auto visibility =
      std::make_unique<MaskVisibility>(std::move(masks), sizes, chosen_heads(heads, sizes.heads), reduce != Reduce::none);
  if (visibility->allows_all()) return nullptr;
  return visibility;
}

}  // namespace v1
}  // namespace attn
