#pragma once

#include <limits>
#include <string>
#include <vector>

#include "attn/base/row_sink.hpp"
#include "render/html_plan.hpp"

namespace attn {
inline namespace v1 {

/// What is known of the numbers once they have passed: the page's trailer.
struct HtmlFacts {
  double min = std::numeric_limits<double>::infinity();    ///< of the finite cells that no mask blocks
  double max = -std::numeric_limits<double>::infinity();   ///< less than min: there is none
  double least = std::numeric_limits<double>::infinity();  ///< of those above zero
  double step = 0;                                         ///< largest distance between two neighbouring 8-bit values
  Index nan = 0, infinite = 0, blocked = 0, empty = 0;     ///< cells; rows for `empty`
  Index rounded = 0;                                       ///< cells that float32 does not hold exactly

  void add(const HtmlFacts& other);
};

/// Codes of the 8-bit form that are no step between a row's smallest and largest value.
enum HtmlCode : unsigned char { kHtmlLastStep = 251, kHtmlZero = 252, kHtmlMinusInf = 253, kHtmlInf = 254, kHtmlNaN = 255 };

/// Packs single rows. All numbers little-endian; a masked row's cells are followed by one bit for each key, lowest
/// first, 1 for allowed.
///   float32:   [keys] float32
///   uint8:     float32 low, float32 step, [keys] codes; value = low + code * step
///   strongest: uint32 begin, uint32 end (the allowed keys lie between), [kept] uint32 key in rising order
///              (0xffffffff: none), [kept] float32
class HtmlRowPacker {
 public:
  HtmlRowPacker(HtmlPacking packing, const HtmlLayer& layer) : packing_(packing), layer_(&layer) {}

  /// Appends row_bytes bytes. `allowed` is null where there is no mask.
  void pack(const RowBlock& rows, Index r, const std::vector<Range>* allowed, std::vector<unsigned char>& bytes,
            HtmlFacts& facts);

 private:
  void read(const RowBlock& rows, Index r, const std::vector<Range>* allowed, HtmlFacts& facts);
  void note_values(HtmlFacts& facts) const;
  void put_floats(std::vector<unsigned char>& bytes) const;
  void put_codes(std::vector<unsigned char>& bytes, HtmlFacts& facts) const;
  void put_strongest(std::vector<unsigned char>& bytes);
  void put_mask(std::vector<unsigned char>& bytes) const;

  HtmlPacking packing_;
  const HtmlLayer* layer_;
  std::vector<float> values_;           // [keys]
  std::vector<unsigned char> allowed_;  // [keys], 1 for allowed
  std::vector<Index> order_;            // keys, strongest first
};

}  // namespace v1
}  // namespace attn
