#pragma once

#include <memory>
#include <vector>

#include "app/array_pick.hpp"
#include "attn/core/attention.hpp"

namespace attn::app {

/// An array of rank 0 to 4 seen as [batch, head, query, key].
struct MatrixStack {
  Index batch = 1, heads = 1, queries = 1, keys = 1;
  bool has_heads = false, has_batch = false;
};
/// Rank 3 is heads, rank 4 batch and heads. Throws Error{mismatch} for higher ranks.
MatrixStack matrix_stack(const Member& member);

/// --head and --reduce as typed; an empty list is all heads.
struct HeadWish {
  std::vector<Index> heads;
  bool single = false;
  Reduce reduce = Reduce::none;
};
HeadWish head_wish(const Words& words);

/// The heads that a stack has of those wished for: all of them spelled out. Throws Error{mismatch} for one it lacks.
std::vector<Index> chosen_heads(const MatrixStack& stack, const HeadWish& wish, const std::string& where);
/// The shape of what is left: a lone number drops the head axis of rank 3, --reduce that of any rank.
Shape chosen_shape(const MatrixStack& stack, const HeadWish& wish);

/// Gives the rows of the chosen heads of one array to a sink, in order, as float64; a single pass over the file where
/// the choice allows it, else several readers or, where the input cannot be read twice, the whole array.
void deliver_heads(const OpenedInput& input, std::size_t member, const HeadWish& wish, const ReadOptions& options,
                   const Console& console, Index first_row, const std::vector<RowSink*>& sinks);

/// Which cells of the chosen rows are allowed, from that of all rows. The original must outlive it.
std::unique_ptr<Visibility> chosen_visibility(const Visibility& all, const MatrixStack& stack, const HeadWish& wish);
/// Allowed by both; null is "all".
std::unique_ptr<Visibility> both_allow(std::unique_ptr<Visibility> a, std::unique_ptr<Visibility> b);

}  // namespace attn::app
