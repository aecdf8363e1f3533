#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// A half-open range of indices.
struct Range {
  Index begin = 0;
  Index end = 0;

  /// Whether no index is in it.
  bool empty() const { return begin >= end; }
  /// Same ends.
  friend bool operator==(const Range&, const Range&) = default;
};

/// Takes bytes in order: a file, a spool, a memory block.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Throws ErrorKind::output when the bytes cannot be taken.
  virtual void write(const void* bytes, std::size_t count) = 0;
  /// The same for text.
  void write(std::string_view text) { write(text.data(), text.size()); }
};

/// Consecutive rows of one array; leading axes are flattened, so a row's number is its place in C order
/// ((batch · H + head) · n + query for weights).
struct RowBlock {
  Index first = 0;           ///< number of the first row
  Index count = 0;           ///< how many rows
  Index columns = 0;         ///< elements in a row
  DType dtype = DType::f32;  ///< f32 or f64
  const void* data = nullptr;
  Index stride = 0;  ///< elements from one row to the next, >= columns

  /// Row `first + r`. Not checked: T must be what `dtype` says.
  template <typename T>
  const T* row(Index r) const {
    return static_cast<const T*>(data) + r * stride;
  }
};

/// Takes the rows of one array as they are finished. The dear part, `encode`, may run on many threads at once;
/// `append` is called from one thread at a time, in row order, without a gap.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Turns rows into this sink's own form, appended to `encoded`. Thread-safe. May leave it empty when `append`
  /// takes the rows as they are.
  virtual void encode(const RowBlock& rows, std::string& encoded) const = 0;
  /// The rows and what `encode` made of them. Throws what the byte sink behind it throws.
  virtual void append(const RowBlock& rows, std::string_view encoded) = 0;
  /// After the last row: trailers are written, pictures drawn. The byte sink behind is complete then.
  virtual void finish() = 0;
};

/// Tells which cells of a weight matrix the masks allow. Rows are numbered as in RowBlock. Thread-safe.
class Visibility {
 public:
  virtual ~Visibility() = default;
  /// Sorted, disjoint, non-touching ranges of allowed keys, replacing what `ranges` held; none for an empty row.
  virtual void allowed_keys(Index row, std::vector<Range>& ranges) const = 0;
};

/// Visibility held as lists: what a file says.
class StoredVisibility : public Visibility {
 public:
  /// One list of ranges for each row.
  explicit StoredVisibility(std::vector<std::vector<Range>> rows) : rows_(std::move(rows)) {}
  /// A copy of the row's list; std::out_of_range for a row that is not there.
  void allowed_keys(Index row, std::vector<Range>& ranges) const override { ranges = rows_.at(static_cast<std::size_t>(row)); }
  /// Number of rows.
  Index rows() const { return static_cast<Index>(rows_.size()); }

 private:
  std::vector<std::vector<Range>> rows_;
};

/// Names of the two last axes. Empty: by index.
struct AxisLabels {
  std::vector<std::string> query_tokens;
  std::vector<std::string> key_tokens;
};

}  // namespace v1
}  // namespace attn
