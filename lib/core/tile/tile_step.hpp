#pragma once

#include <cstddef>

namespace attn::tile {

// The steps of the tiled kernel, one table per instruction set. Queries are the vector lanes: a panel is a matrix
// [row][lanes] with one query per lane, so that maxima, sums, masks and rescaling never cross lanes, and a lane's result
// does not depend on its neighbours. Keys and values are read where they lie.
//
// These structs are all that files built for different CPUs share: plain data, no function that a linker could merge.

using Size = std::ptrdiff_t;

/// The widest panel has this many vectors.
inline constexpr int kMaxVectors = 3;
/// Powers are kept times 2^kPowerShift, so that weights below the smallest normal number keep their digits.
template <typename T>
inline constexpr int kPowerShift = sizeof(T) == 4 ? 24 : 52;

/// count rows of `columns` numbers -> panel [columns][lanes], each times `factor`; lanes from `count` on are 0.
/// `peak` [lanes], if wanted, becomes the largest size among a row's numbers before the factor.
template <typename T>
struct PackStep {
  const T* rows;
  Size stride;
  Size count;
  Size columns;
  T factor;
  T* panel;
  Size lanes;
  T* peak;
};

/// panel [columns][lanes] -> count rows, lane i times factor[i]. `check` as in ScoreStep, of the numbers in the panel; may
/// be null.
template <typename T>
struct UnpackStep {
  const T* panel;
  Size columns;
  Size lanes;
  const T* factor;
  T* rows;
  Size stride;
  Size count;
  T* check;
};

/// panel [depth][lanes], keys [keys][depth] -> scores [keys][lanes] = keys · panel.
template <typename T>
struct ScoreStep {
  const T* panel;
  Size depth;
  Size lanes;
  const T* keys;
  Size key_stride;
  Size key_count;
  T* scores;
  const T* bias;  ///< [keys][lanes], added; -inf blocks whatever the score is. Null: none
  T* highest;     ///< [lanes], raised by every score that is not blocked (bias included)
  T* check;       ///< [lanes], NaN from the first score that is not blocked and not finite; else left as it is
};

/// scores [keys][lanes] -> height · tanh(score · shrink) + bias, or score + bias when height is 0; `highest` and `check` as
/// in ScoreStep, the latter of the scores before and after.
template <typename T>
struct SettleStep {
  T* scores;
  Size key_count;
  Size lanes;
  T height;
  T shrink;
  const T* bias;  ///< may be null
  T* highest;
  T* check;
};

/// scores [keys][lanes] -> 2^(score - maximum + kPowerShift) in place; blocked scores give exactly 0.
template <typename T>
struct PowerStep {
  T* scores;
  Size key_count;
  Size lanes;
  const T* highest;  ///< [lanes], of these scores
  T* maximum;        ///< [lanes], running; raised to `highest`
  T* total;          ///< [lanes], running sum of the powers, rescaled when the maximum moves
  T* rescale;        ///< [lanes], out: 2^(old maximum - new maximum)
  T unit;            ///< scores are multiplied by it: 1 when they are in bits, log2(e) when natural
};

/// out [columns][lanes] = out · rescale + weightsᵀ · values; the new products are summed by themselves first.
template <typename T>
struct SumStep {
  const T* weights;  ///< [keys][lanes]
  Size key_count;
  Size lanes;
  const T* values;  ///< [keys][columns]
  Size value_stride;
  Size columns;
  T* out;
  const T* rescale;  ///< [lanes]
};

/// A few query rows against many keys: scores[row][key] = query row · key; vectors run along the head size.
template <typename T>
struct RowScoreStep {
  const T* queries;  ///< [rows][depth], 1 to kMaxRows rows
  Size query_stride;
  Size rows;
  Size depth;
  const T* keys;
  Size key_stride;
  Size key_count;
  Size keys_after;  ///< so many more rows follow these keys; some are asked for ahead
  const T* next;    ///< [key_count][next_columns], what will be read after the keys and is asked for meanwhile; may be null
  Size next_stride;
  Size next_columns;
  T* scores;
  Size score_stride;
};
inline constexpr Size kMaxRows = 4;

/// The same for one row of scores, which starts from nothing.
template <typename T>
struct RowSettleStep {
  T* scores;
  Size count;
  T height;
  T shrink;
  const T* bias;  ///< [keys], may be null
  T highest;      ///< out
  T check;        ///< out: NaN if a score that is not blocked is not finite, else 0
};

/// One row of scores -> 2^(score - maximum + kPowerShift) in place, and their sum. The count is a multiple of
/// kRowStep: the caller fills up with minus infinities, so that the order of the sum does not depend on where rows end.
inline constexpr Size kRowStep = 64;
template <typename T>
struct RowPowerStep {
  T* scores;
  Size count;
  T maximum;
  T total;  ///< out
};

/// out[row][column] += weights[row] · values, 1 to kMaxRows rows; the new products are summed by themselves first.
template <typename T>
struct RowSumStep {
  const T* weights;
  Size weight_stride;
  Size rows;
  Size key_count;
  const T* values;
  Size value_stride;
  Size columns;
  T* out;
  Size out_stride;
};

/// All steps for one element type.
template <typename T>
struct TileSteps {
  int vector_lanes;
  void (*pack)(const PackStep<T>&);
  void (*unpack)(const UnpackStep<T>&);
  void (*scores)(const ScoreStep<T>&);
  void (*settle)(const SettleStep<T>&);
  void (*powers)(const PowerStep<T>&);
  void (*sums)(const SumStep<T>&);
  void (*row_scores)(const RowScoreStep<T>&);
  void (*row_settle)(RowSettleStep<T>&);
  void (*row_powers)(RowPowerStep<T>&);
  void (*row_sums)(const RowSumStep<T>&);
};

}  // namespace attn::tile
