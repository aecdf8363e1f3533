#pragma once

#include <gtest/gtest.h>

#include "support/oracle.hpp"
#include "support/random_problem.hpp"
#include "support/verify.hpp"

namespace attn::test {

/// The tiled kernel with every instruction set that runs here.
inline std::vector<Variant> tiled_variants() {
  std::vector<Variant> tiled;
  for (const Variant& variant : variants())
    if (variant.kernel == "tiled") tiled.push_back(variant);
  return tiled;
}

/// What a panel path, which never holds a row of weights, is asked for.
inline Wanted without_weights(int threads = 1) { return {.weights = false, .threads = threads}; }

/// N(0,1) numbers of the given sizes.
inline Problem normal_problem(std::uint64_t seed, Index heads, Index kv_heads, Index n, Index m, Index d, Index v, DType dtype) {
  Dice dice(seed);
  Problem p;
  p.heads = heads, p.kv_heads = kv_heads, p.queries = n, p.keys = m, p.head_size = d, p.value_size = v, p.dtype = dtype;
  const auto fill = [&](std::vector<double>& numbers, Index count) {
    for (Index i = 0; i < count; ++i) {
      const double x = dice.normal();
      numbers.push_back(dtype == DType::f32 ? static_cast<double>(static_cast<float>(x)) : x);
    }
  };
  fill(p.query, heads * n * d);
  fill(p.key, kv_heads * m * d);
  fill(p.value, kv_heads * m * v);
  return p;
}

/// Output and log-sum-exp of every `every`-th row against the oracle, within a quarter of the bound. The first failure in
/// words, or nothing.
inline std::string compare_output(const Problem& p, const Solution& s, Index every = 1) {
  const Oracle oracle(p);
  for (Index b = 0; b < p.batch; ++b)
    for (Index h = 0; h < p.heads; ++h)
      for (Index i = 0; i < p.queries; i += every) {
        const OracleRow row = oracle.row(b, h, i);
        const ErrorBound bound(p, row);
        const Index at = (b * p.heads + h) * p.queries + i;
        const bool nan = row.empty && p.options.empty_rows == EmptyRows::nan;
        for (Index c = 0; c < p.value_size; ++c) {
          const double got = s.output[static_cast<std::size_t>(at * p.value_size + c)];
          const std::size_t column = static_cast<std::size_t>(c);
          const Wide off = std::abs(got - row.output[column]);
          if (nan ? !std::isnan(got) : !(off <= bound.output(row, column) / 4))
            return concat("output of batch ", b, " head ", h, " query ", i, " column ", c, ": ", format_number(got), ", exact ",
                          format_number(static_cast<double>(row.output[column])));
        }
        const double lse = s.lse[static_cast<std::size_t>(at)];
        if (lse != row.log_sum_exp && !(std::abs(lse - row.log_sum_exp) <= bound.log_sum_exp(row.log_sum_exp)))
          return concat("log-sum-exp of head ", h, " query ", i, ": ", format_number(lse));
      }
  return {};
}

}  // namespace attn::test
