#pragma once

#include <cmath>

namespace attn {
inline namespace v1 {

/// A sum whose rounding errors are added up apart and put back at the end (Knuth's two-sum): as exact for a million
/// equal addends as for two. An infinity or NaN among them gives what a plain sum would.
class CompensatedSum {
 public:
  void add(double addend) {
    const double next = sum_ + addend;
    const double kept = next - sum_;
    error_ += (sum_ - (next - kept)) + (addend - kept);
    sum_ = next;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + error_ : sum_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

}  // namespace v1
}  // namespace attn
