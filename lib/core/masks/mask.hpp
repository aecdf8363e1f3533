#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/attention.hpp"

namespace attn {
inline namespace v1 {

/// Sizes that masks and kernels share.
struct AttentionSizes {
  Index batch = 1;
  Index heads = 1;       ///< H
  Index kv_heads = 1;    ///< G
  Index queries = 0;     ///< n
  Index keys = 0;        ///< m
  Index head_size = 0;   ///< d
  Index value_size = 0;  ///< v; 0 without a value
};

enum class Coverage { none, some, all };

/// A block of queries of one batch item and head.
struct QueryBlock {
  Index batch = 0;
  Index head = 0;
  Range queries;
};

/// One reason why keys are blocked, or one addend of the scores, or both (an added mask with -inf in it).
/// Kernels never see a single mask, only a MaskSet. Thread-safe after construction.
class Mask {
 public:
  virtual ~Mask() = default;

  /// In words for the report: "causal, top-left".
  virtual std::string text() const = 0;
  /// Whether heads may differ.
  virtual bool varies_by_head() const { return false; }
  /// Whether it ever blocks. The three calls below are then answered.
  virtual bool blocks() const { return true; }
  /// No query of the block sees a key outside this range. Should be tight: tiles outside are never computed.
  virtual Range visible_keys(const QueryBlock& block) const = 0;
  /// Whether all, none or some of the cells block.queries x keys are allowed ("some" is always a right answer).
  virtual Coverage coverage(const QueryBlock& block, Range keys) const = 0;
  /// Sets allowed[j - keys.begin] = 0 for each blocked key of one query; leaves the others alone.
  virtual void block(Index batch, Index head, Index query, Range keys, std::uint8_t* allowed) const = 0;

  /// Whether it adds to the scores.
  virtual bool biases() const { return false; }
  /// bias[j - keys.begin] += its addend; blocked cells may get anything finite.
  virtual void add(Index /*batch*/, Index /*head*/, Index /*query*/, Range /*keys*/, double* /*bias*/) const {}
  virtual void add(Index /*batch*/, Index /*head*/, Index /*query*/, Range /*keys*/, float* /*bias*/) const {}
};

/// All masks and biases of a run: what kernels ask.
class MaskSet {
 public:
  MaskSet() = default;
  /// Checks shapes and values of everything in `options`; throws `mismatch`. Notes go to `notes`.
  MaskSet(const MaskOptions& options, const AttentionSizes& sizes, bool allow_nonfinite, std::vector<std::string>& notes);

  bool blocks() const { return blocks_; }
  bool biases() const { return biases_ > 0; }
  bool varies_by_head() const { return varies_by_head_; }

  /// Intersection over the masks; [0, m) without any. Empty when no query of the block sees a key.
  Range visible_keys(const QueryBlock& block) const;
  Coverage coverage(const QueryBlock& block, Range keys) const;
  /// allowed[j - keys.begin] = 1 or 0.
  void allowed(Index batch, Index head, Index query, Range keys, std::uint8_t* allowed) const;
  /// bias[j - keys.begin] = the sum of all addends, saturated at the lowest and largest finite number of the precision.
  void bias(Index batch, Index head, Index query, Range keys, float* bias) const;
  void bias(Index batch, Index head, Index query, Range keys, double* bias) const;
  /// Whether the masks allow this query no key at all.
  bool row_is_empty(Index batch, Index head, Index query) const;
  std::string text() const;

 private:
  template <typename T>
  void bias_row(Index batch, Index head, Index query, Range keys, T* bias) const;

  std::vector<std::unique_ptr<Mask>> masks_;
  AttentionSizes sizes_;
  bool allow_nonfinite_ = false;
  bool blocks_ = false;
  int biases_ = 0;  // how many masks add to the scores
  bool varies_by_head_ = false;
};

}  // namespace v1
}  // namespace attn
