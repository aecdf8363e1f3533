#pragma once

#include <string>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "support/oracle.hpp"

namespace attn::test {

/// How a computed solution compares with the oracle: largest errors as fractions of what is allowed.
struct Verdict {
  double output = 0;  ///< of E; a quarter is allowed
  double weight = 0, row_sum = 0, log_sum_exp = 0;
  std::string failure;  ///< the first thing that is wrong, with its place
};

/// Looks at every element of a solution that was asked for in full.
class Verifier {
 public:
  Verifier(const Problem& problem, const Solution& solution) : p_(problem), s_(solution), oracle_(problem) {}

  Verdict verify() {
    if (!s_.rows_in_order) fail_at("rows out of order", 0, 0, 0, 0);
    const std::size_t rows = static_cast<std::size_t>(p_.batch * p_.heads * p_.queries);
    if (s_.weights.size() != rows * static_cast<std::size_t>(p_.keys)) fail_at("number of weights", 0, 0, 0, 0);
    Index empty = 0;
    for (Index b = 0; b < p_.batch && verdict_.failure.empty(); ++b)
      for (Index h = 0; h < p_.heads && verdict_.failure.empty(); ++h)
        for (Index i = 0; i < p_.queries && verdict_.failure.empty(); ++i) empty += verify_row(b, h, i);
    if (verdict_.failure.empty() && empty != s_.report.empty_rows) fail_at("number of empty rows", 0, 0, 0, 0);
    return verdict_;
  }

 private:
  bool verify_row(Index b, Index h, Index i) {
    const OracleRow row = oracle_.row(b, h, i);
    const ErrorBound bound(p_, row);
    const Index at = (b * p_.heads + h) * p_.queries + i;
    const double* const weights = s_.weights.data() + at * p_.keys;
    Wide sum = 0;
    for (Index j = 0; j < p_.keys; ++j) {
      const Wide exact = expected(row, row.weights[static_cast<std::size_t>(j)]);
      judge(verdict_.weight, 1, weights[j], exact, bound.weight(exact), {"weight", b, h, i, j});
      if (row.masked[static_cast<std::size_t>(j)] == -kWideInfinity && !row.empty && weights[j] != 0)
        fail_at("a blocked key has a weight", b, h, i, j);
      sum += weights[j];
    }
    if (!row.empty && p_.sinks.empty()) judge(verdict_.row_sum, 1, sum, 1, bound.row_sum(), {"row sum", b, h, i, 0});
    for (Index c = 0; c < p_.value_size; ++c) {
      const std::size_t column = static_cast<std::size_t>(c);
      judge(verdict_.output, 0.25, s_.output[static_cast<std::size_t>(at * p_.value_size + c)], expected(row, row.output[column]),
            bound.output(row, column), {"output", b, h, i, c});
    }
    judge(verdict_.log_sum_exp, 1, s_.lse[static_cast<std::size_t>(at)], row.log_sum_exp, bound.log_sum_exp(row.log_sum_exp),
          {"log-sum-exp", b, h, i, 0});
    return row.empty;
  }

  Wide expected(const OracleRow& row, Wide exact) const {
    return row.empty && p_.options.empty_rows == EmptyRows::nan ? std::numeric_limits<Wide>::quiet_NaN() : exact;
  }

  struct Place {
    const char* what;
    Index b, h, i, j;
  };

  void judge(double& worst, double allowed, Wide got, Wide want, Wide limit, const Place& at) {
    const bool special = std::isnan(want) || std::isinf(want);
    if (special ? (std::isnan(want) ? !std::isnan(got) : got != want) : !std::isfinite(got)) return wrong(got, want, limit, at);
    if (special || got == want) return;
    const double ratio = static_cast<double>(std::abs(got - want) / limit);
    worst = std::max(worst, ratio);
    if (!(ratio <= allowed)) wrong(got, want, limit, at);
  }

  void wrong(Wide got, Wide want, Wide limit, const Place& at) {
    const auto text = [](Wide x) { return format_number(static_cast<double>(x)); };
    fail_at(concat(at.what, ": ", text(got), ", exact ", text(want), ", limit ", text(limit)), at.b, at.h, at.i, at.j);
  }

  void fail_at(const std::string& what, Index b, Index h, Index i, Index j) {
    if (verdict_.failure.empty()) verdict_.failure = concat(what, " at batch ", b, " head ", h, " query ", i, " column ", j);
  }

  const Problem& p_;
  const Solution& s_;
  Oracle oracle_;
  Verdict verdict_;
};

/// The problem in words, for failures.
inline std::string describe(const Problem& p) {
  std::string text = concat("B ", p.batch, " H ", p.heads, " G ", p.kv_heads, " n ", p.queries, " m ", p.keys, " d ", p.head_size,
                            " v ", p.value_size, " ", dtype_name(p.dtype), " scale ", format_number(p.scale()), " softcap ",
                            format_number(p.options.softcap), " sinks ", static_cast<Index>(p.sinks.size()));
  for (const MaskNumbers& mask : p.arrays)
    text += concat(" ", mask.kind == MaskKind::add ? "add" : (mask.kind == MaskKind::keep ? "keep" : "block"),
                   shape_text(mask.numbers.shape), dtype_name(mask.numbers.dtype));
  return text;
}

}  // namespace attn::test
