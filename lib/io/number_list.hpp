#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "attn/base/array.hpp"

namespace attn {
inline namespace v1 {

/// Numbers whose count is not known beforehand, in one growing block of the budget. Large blocks grow without copying.
class NumberList {
 public:
  NumberList(const MemoryBudget& budget, std::string what) : budget_(budget), what_(std::move(what)) {}

  void push(double value) {
    if (next_ == end_) grow();
    *next_++ = value;
  }
  Index size() const { return next_ - begin(); }
  const double* begin() const { return reinterpret_cast<const double*>(block_.data()); }

  /// Gives the numbers away in a block of exactly their size: doubles, or one byte each for booleans.
  Buffer release(DType dtype);

 private:
  double* begin() { return reinterpret_cast<double*>(block_.data()); }
  void grow();

  MemoryBudget budget_;
  std::string what_;
  Buffer block_;
  double* next_ = nullptr;
  double* end_ = nullptr;
};

}  // namespace v1
}  // namespace attn
