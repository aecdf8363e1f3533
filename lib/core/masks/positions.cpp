#include "core/masks/positions.hpp"

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {

QueryPositions::QueryPositions(const MaskOptions& options, const AttentionSizes& sizes) {
  if (options.align && options.query_offset)
    fail(ErrorKind::usage, "both an alignment and a query offset are given; one of them decides where the queries stand");
  if (options.query_offset) {
    if (*options.query_offset > kFarthestOffset || *options.query_offset < -kFarthestOffset)
      fail(ErrorKind::usage, "the query offset ", *options.query_offset, " is out of range; at most ", kFarthestOffset,
           " either way");
    offsets_ = {*options.query_offset};
    text_ = concat("offset ", *options.query_offset);
  } else if (options.align == Align::bottom_right) {
    if (options.key_lengths.empty()) offsets_ = {sizes.keys - sizes.queries};
    for (const Index valid : options.key_lengths) offsets_.push_back(valid - sizes.queries);
    text_ = "bottom-right";
  } else {
    offsets_ = {options.past};
    text_ = "top-left";
  }
}

}  // namespace v1
}  // namespace attn
