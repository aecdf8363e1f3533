#pragma once

#include <memory>
#include <vector>

#include "attn/io/array_writer.hpp"
#include "attn/io/output_file.hpp"

namespace attn {
inline namespace v1 {

/// The header that stands for a whole bundle: of the weights, else of the scores, else the first. Its labels, facts and
/// visibility are those of the bundle.
const ArrayHeader& lead_header(const std::vector<ArrayHeader>& headers);

/// The cells that masks allow, as a boolean array [n,m], [B,1,n,m] or of the whole shape: the smallest that broadcasts to
/// the weights.
class AllowedArray {
 public:
  /// `visibility` must outlive this. The shape of the weights has rank 2 or more.
  AllowedArray(const Visibility& visibility, const Shape& weights);
  const Shape& shape() const { return shape_; }
  /// One byte a cell, in C order.
  void write(ByteSink& bytes) const;

 private:
  bool same_matrix(Index a, Index b) const;

  const Visibility& visibility_;
  Index rows_;       // of one matrix
  Index columns_;    // of one matrix
  Index step_ = 1;   // from one matrix that is written to the next
  Index count_ = 1;  // matrices that are written
  Shape shape_;
};

/// Whether a bundle says which cells are allowed.
bool has_allowed(const ArrayHeader& lead);

/// The bundle of JSON: one document with all arrays.
std::unique_ptr<BundleWriter> make_json_bundle(const std::vector<ArrayHeader>& headers, const WriteOptions& options,
                                               ByteSink& bytes);

}  // namespace v1
}  // namespace attn
