#pragma once

#include "core/tile/body/product.hpp"
#include "core/tile/body/row.hpp"
#include "core/tile/body/softmax.hpp"
#include "core/tile/body/transpose.hpp"

namespace attn::tile {
namespace {

template <typename T, typename Arch>
constexpr TileSteps<T> make_steps() {
  using B = Vector<T, Arch>;
  return {static_cast<int>(B::size),
          pack<B>,
          unpack<B>,
          scores<B>,
          settle<B>,
          powers<B>,
          sums<B>,
          row_scores<B>,
          row_settle<B>,
          row_powers<B>,
          row_sums<B>};
}

}  // namespace
}  // namespace attn::tile
