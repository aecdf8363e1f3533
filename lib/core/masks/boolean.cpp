#include <algorithm>
#include <cmath>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "core/masks/makers.hpp"
#include "core/masks/mask_cells.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// An array of 0 and 1 in which 1 lets a key be seen (keep) or blocks it (block).
class BooleanMask final : public Mask {
 public:
  BooleanMask(const MaskArray& array, const AttentionSizes& sizes)
      : cells_(array, sizes), blocking_(array.kind == MaskKind::block), summary_(cells_.rows(), sizes.keys) {
    check_values();
    summarize(sizes.keys);
  }

  std::string text() const override { return concat("mask ", cells_.shape(), blocking_ ? " (1 blocks)" : " (1 may attend)"); }
  bool varies_by_head() const override { return cells_.varies_by_head(); }
  Range visible_keys(const QueryBlock& block) const override { return cells_.visible_keys(block, summary_); }
  Coverage coverage(const QueryBlock& block, Range keys) const override { return cells_.coverage(block, keys, summary_); }

  void block(Index batch, Index head, Index query, Range keys, std::uint8_t* allowed) const override {
    const Index row = cells_.row_of(batch, head, query);
    const Index count = keys.end - keys.begin;
    if (cells_.one_for_all_keys()) {
      if (summary_.span(row).empty()) std::fill(allowed, allowed + count, std::uint8_t{0});
      return;
    }
    constexpr Index kPiece = 256;
    std::uint8_t one[kPiece];
    for (Index at = 0; at < count; at += kPiece) {
      const Index length = std::min(kPiece, count - at);
      find_nonzero(cells_.dtype(), cells_.cell(row, keys.begin + at), length, one);
      for (Index i = 0; i < length; ++i) allowed[at + i] &= one[i] ^ static_cast<std::uint8_t>(blocking_);
    }
  }

 private:
  void check_values() const {
    for (Index row = 0; row < cells_.rows(); ++row)
      if (!only_zero_and_one(cells_.dtype(), cells_.cell(row, 0), cells_.row_length())) refuse(row);
  }

  [[noreturn]] void refuse(Index row) const {
    std::vector<double> values(static_cast<std::size_t>(cells_.row_length()));
    convert_elements(cells_.dtype(), cells_.cell(row, 0), cells_.row_length(), values.data());
    const auto wrong = std::find_if(values.begin(), values.end(), [](double v) { return v != 0 && v != 1; });
    fail(ErrorKind::mismatch, printable(cells_.origin()), ": ", cells_.place(row, wrong - values.begin()), " is ",
         format_number(*wrong), "; a mask to ", blocking_ ? "block" : "keep",
         " holds only 0 and 1 (numbers that are added to the scores need --mask-kind add)");
  }

  void summarize(Index keys) {
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(cells_.row_length()));
    for (Index row = 0; row < cells_.rows(); ++row) {
      find_nonzero(cells_.dtype(), cells_.cell(row, 0), cells_.row_length(), allowed.data());
      for (std::uint8_t& cell : allowed) cell ^= static_cast<std::uint8_t>(blocking_);
      if (cells_.row_length() == keys)
        summary_.set_row(row, allowed.data());
      else
        summary_.set_row(row, allowed[0] != 0);
    }
  }

  MaskCells cells_;
  bool blocking_;
  CellSummary summary_;
};

}  // namespace

void make_boolean(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  for (const MaskArray& array : context.options.arrays)
    if (array.kind != MaskKind::add) masks.push_back(std::make_unique<BooleanMask>(array, context.sizes));
}

}  // namespace v1
}  // namespace attn
