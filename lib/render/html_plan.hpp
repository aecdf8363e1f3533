#pragma once

#include <cstddef>
#include <vector>

#include "attn/render/picture.hpp"

namespace attn {
inline namespace v1 {

/// How a page holds its numbers.
enum class HtmlPacking {
  float32,    ///< every cell, 4 bytes
  uint8,      ///< every cell in one byte, between the smallest and the largest value of its row
  strongest,  ///< only the strongest keys of each query: index and float32
};

/// One layer of a page: `planes` = batches x heads matrices [queries, keys].
struct HtmlLayer {
  Index batches = 1;
  bool has_batches = false;
  Index heads = 1;
  bool has_heads = false;
  Index queries = 0;
  Index keys = 0;
  Index kept = 0;  ///< keys a row holds: all, or the strongest
  bool masked = false;
  Index first_row = 0;
  std::size_t row_bytes = 0;  ///< a multiple of 12: whole base64 groups and aligned floats

  Index planes() const { return batches * heads; }
  Index rows() const { return planes() * queries; }
};

struct HtmlPlan {
  HtmlPacking packing = HtmlPacking::float32;
  std::vector<HtmlLayer> layers;
  std::size_t data_letters = 0;  ///< base64 letters of all rows

  /// The layer a row number falls into.
  const HtmlLayer& layer_of(Index row) const;
};

/// Cells up to which a page holds float32.
inline constexpr Index kHtmlFloatCells = 10'000'000;
/// Letters of data beyond which browsers no longer open a page in reasonable time.
inline constexpr std::size_t kHtmlLargestData = 500'000'000;

/// Bytes of one packed row of `layer`.
std::size_t html_row_bytes(HtmlPacking packing, const HtmlLayer& layer);
/// Chooses the packing. Throws `usage`, with what to do, for a page that no browser would open, and for top_k < 1.
HtmlPlan plan_html(const PictureSpec& spec);

}  // namespace v1
}  // namespace attn
