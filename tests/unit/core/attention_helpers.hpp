#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "attn/base/error.hpp"
#include "support/problem.hpp"

namespace attn::test {

using Rows = std::vector<std::vector<double>>;

inline std::vector<double> flat(const Rows& rows) {
  std::vector<double> all;
  for (const std::vector<double>& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// One head, one batch item.
inline Problem problem_of(const Rows& query, const Rows& key, const Rows& value) {
  Problem problem;
  problem.queries = static_cast<Index>(query.size());
  problem.keys = static_cast<Index>(key.size());
  problem.head_size = static_cast<Index>(query.empty() ? key[0].size() : query[0].size());
  problem.value_size = static_cast<Index>(value[0].size());
  problem.query = flat(query), problem.key = flat(key), problem.value = flat(value);
  return problem;
}

/// n queries and m keys whose scores are all 0; the value of key j is j + 1.
inline Problem equal_scores(Index n, Index m) {
  Problem problem;
  problem.queries = n, problem.keys = m;
  problem.query.assign(static_cast<std::size_t>(n), 0);
  problem.key.assign(static_cast<std::size_t>(m), 0);
  for (Index j = 0; j < m; ++j) problem.value.push_back(static_cast<double>(j + 1));
  return problem;
}

/// An array of numbers of a shape, f64 unless said.
inline MaskNumbers mask_of(MaskKind kind, Shape shape, std::vector<double> values, DType dtype = DType::f64) {
  return {{std::move(shape), std::move(values), dtype}, kind};
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    else if (std::isinf(want[i]))
      EXPECT_EQ(got[i], want[i]) << "element " << i;
    else
      EXPECT_NEAR(got[i], want[i], tolerance) << "element " << i;
  }
}

inline void expect_has(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

/// Message and hint of the error of that kind which `work` ends with.
inline std::string error_of(ErrorKind kind, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    EXPECT_LE(error.message().size(), 300u) << error.what();
    return error.hint().empty() ? error.message() : error.message() + "\n" + error.hint();
  }
  ADD_FAILURE() << "no error";
  return {};
}
inline std::string error_of(const Problem& problem, ErrorKind kind = ErrorKind::mismatch) {
  return error_of(kind, [&] { solve(problem); });
}

/// All notes in one text.
inline std::string notes_of(const Problem& problem) {
  const PreparedProblem prepared(problem);
  std::string text;
  for (const std::string& note : check_attention(prepared.inputs, problem.options).notes) text += note + "\n";
  return text;
}

}  // namespace attn::test
