#pragma once

#include <string>
#include <vector>

#include "attn/core/statistics.hpp"

namespace attn::app {

/// How one array of A agrees with its reference in B.
struct ArrayComparison {
  std::string name;
  Shape shape, reference_shape;
  bool labels_differ = false;
  Difference difference;
  // The numbers at the largest errors.
  double absolute_a = 0, absolute_b = 0, relative_a = 0, relative_b = 0;

  bool shapes_differ() const { return shape != reference_shape; }
  bool same() const { return !shapes_differ() && difference.same(); }
  void add_row(const double* a, const double* reference, Index columns, double atol, double rtol);
};

/// The answer of `diff`.
struct DiffReport {
  std::string a, b;
  double atol = 0, rtol = 0;
  std::vector<ArrayComparison> arrays;
  std::vector<std::string> only_a, only_b;

  bool same() const;
  std::string text() const;
  std::string json() const;
};

}  // namespace attn::app
