#include <algorithm>
#include <limits>

#include "core/masks/mask.hpp"
#include "core/masks/mask_list.hpp"
#include "core/masks/positions.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Index kPiece = 256;

/// Only a minus infinity that was given blocks: a sum that overflows becomes the last finite number. NaN stays NaN, and
/// plus infinity too where it may be given.
template <typename T>
void saturate(const double* sums, Index count, bool keep_infinity, T* bias) {
  constexpr double kMost = std::numeric_limits<T>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < count; ++i) {
    const bool too_large = sums[i] > kMost && !(keep_infinity && sums[i] == kInfinity);
    bias[i] = static_cast<T>(sums[i] < -kMost ? -kMost : (too_large ? kMost : sums[i]));
  }
}

Range intersect(Range a, Range b) {
  const Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.empty() ? Range{0, 0} : both;
}

}  // namespace

MaskSet::MaskSet(const MaskOptions& options, const AttentionSizes& sizes, bool allow_nonfinite, std::vector<std::string>& notes)
    : sizes_(sizes), allow_nonfinite_(allow_nonfinite) {
  const MaskContext context{options, sizes_, allow_nonfinite, notes};
  for (const MaskMaker& maker : mask_makers()) maker.make(context, masks_);
  for (const std::unique_ptr<Mask>& mask : masks_) {
    blocks_ = blocks_ || mask->blocks();
    if (mask->biases()) ++biases_;
    varies_by_head_ = varies_by_head_ || mask->varies_by_head();
  }
}

Range MaskSet::visible_keys(const QueryBlock& block) const {
  Range seen = block.queries.empty() ? Range{0, 0} : Range{0, sizes_.keys};
  for (const std::unique_ptr<Mask>& mask : masks_) {
    if (seen.empty()) break;
    if (mask->blocks()) seen = intersect(seen, mask->visible_keys(block));
  }
  return seen;
}

Coverage MaskSet::coverage(const QueryBlock& block, Range keys) const {
  if (block.queries.empty() || keys.empty()) return Coverage::none;
  Coverage all = Coverage::all;
  for (const std::unique_ptr<Mask>& mask : masks_) {
    if (!mask->blocks()) continue;
    const Coverage one = mask->coverage(block, keys);
    if (one == Coverage::none) return one;
    if (one == Coverage::some) all = one;
  }
  return all;
}

void MaskSet::allowed(Index batch, Index head, Index query, Range keys, std::uint8_t* allowed) const {
  if (keys.empty()) return;
  std::fill(allowed, allowed + (keys.end - keys.begin), std::uint8_t{1});
  for (const std::unique_ptr<Mask>& mask : masks_)
    if (mask->blocks()) mask->block(batch, head, query, keys, allowed);
}

template <typename T>
void MaskSet::bias_row(Index batch, Index head, Index query, Range keys, T* bias) const {
  if (biases_ <= 1) {  // a single addend is saturated by itself
    std::fill(bias, bias + (keys.end - keys.begin), T{0});
    for (const std::unique_ptr<Mask>& mask : masks_)
      if (mask->biases()) mask->add(batch, head, query, keys, bias);
    return;
  }
  double sums[kPiece];
  for (Index at = keys.begin; at < keys.end; at += kPiece) {
    const Range piece{at, std::min(at + kPiece, keys.end)};
    std::fill(sums, sums + (piece.end - piece.begin), 0.0);
    for (const std::unique_ptr<Mask>& mask : masks_)
      if (mask->biases()) mask->add(batch, head, query, piece, sums);
    saturate(sums, piece.end - piece.begin, allow_nonfinite_, bias + (at - keys.begin));
  }
}

void MaskSet::bias(Index batch, Index head, Index query, Range keys, float* bias) const {
  if (!keys.empty()) bias_row(batch, head, query, keys, bias);
}
void MaskSet::bias(Index batch, Index head, Index query, Range keys, double* bias) const {
  if (!keys.empty()) bias_row(batch, head, query, keys, bias);
}

bool MaskSet::row_is_empty(Index batch, Index head, Index query) const {
  const QueryBlock row{batch, head, {query, query + 1}};
  const Range seen = visible_keys(row);
  if (seen.empty()) return true;
  if (!blocks_) return false;
  std::uint8_t allowed[kPiece];
  for (Index at = seen.begin; at < seen.end; at += kPiece) {
    const Range piece{at, std::min(at + kPiece, seen.end)};
    const Coverage coverage_here = coverage(row, piece);
    if (coverage_here == Coverage::all) return false;
    if (coverage_here == Coverage::none) continue;
    this->allowed(batch, head, query, piece, allowed);
    if (std::find(allowed, allowed + (piece.end - piece.begin), 1) != allowed + (piece.end - piece.begin)) return false;
  }
  return true;
}

std::string MaskSet::text() const {
  std::string text;
  for (const std::unique_ptr<Mask>& mask : masks_) {
    if (!text.empty()) text += "; ";
    text += mask->text();
  }
  return text.empty() ? "none" : text;
}

}  // namespace v1
}  // namespace attn
