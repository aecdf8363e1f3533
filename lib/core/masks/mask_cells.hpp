#pragma once

#include <cstdint>

#include "core/masks/cell_summary.hpp"
#include "core/masks/mask.hpp"

namespace attn {
inline namespace v1 {

/// One mask array laid over [B,H,n,m] without copying it: an axis of size 1 has stride 0. A "row" below is one of the
/// array's own rows, of which many queries may share one. Refers to the array, which must outlive it.
class MaskCells {
 public:
  /// Throws `mismatch` with a list of the shapes that fit.
  MaskCells(const MaskArray& array, const AttentionSizes& sizes);

  const std::string& origin() const { return origin_; }
  std::string shape() const { return shape_text(array_->shape); }
  bool varies_by_head() const { return strides_[1] != 0; }
  /// How many rows the array itself has.
  Index rows() const { return rows_; }
  Index row_of(Index batch, Index head, Index query) const {
    return batch * strides_[0] + head * strides_[1] + query * strides_[2];
  }
  /// Whether each row holds one number for all keys.
  bool one_for_all_keys() const { return row_length_ == 1 && keys_ != 1; }
  Index row_length() const { return row_length_; }
  /// "[1,2]" in the array's own axes, for messages.
  std::string place(Index row, Index column) const;

  DType dtype() const { return array_->dtype; }
  const std::byte* cell(Index row, Index column) const {
    return array_->bytes.data() + (row * row_length_ + column) * static_cast<Index>(item_size(array_->dtype));
  }

  /// What a block of queries sees, from a summary of the rows.
  Range visible_keys(const QueryBlock& block, const CellSummary& summary) const;
  Coverage coverage(const QueryBlock& block, Range keys, const CellSummary& summary) const;

 private:
  /// Rows of a block: all queries may share one.
  Range distinct_queries(const QueryBlock& block) const;

  const Array* array_;
  std::string origin_;
  Index strides_[3] = {0, 0, 0};  // rows from one batch item, head, query to the next
  Index rows_ = 1;
  Index row_length_ = 1;
  Index keys_ = 0;
};

/// Whether all of `count` packed elements are 0 or 1.
bool only_zero_and_one(DType dtype, const std::byte* cells, Index count);
/// out[i] = 1 where the i-th of `count` packed elements is not zero.
void find_nonzero(DType dtype, const std::byte* cells, Index count, std::uint8_t* out);
/// out[i] = 0 where it is minus infinity; the others are left alone.
void find_minus_infinity(DType dtype, const std::byte* cells, Index count, std::uint8_t* out);

}  // namespace v1
}  // namespace attn
