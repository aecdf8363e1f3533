// A small problem of attention, solved by one of the kernels and held against an oracle in long double: every element lies
// within its bound, other numbers of threads give the same bytes, and a problem is refused only when a scaled score is
// beyond the precision.
#include "fuzz/support/check.hpp"
#include "fuzz/support/drawn_problem.hpp"
#include "support/verify.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

/// The largest scaled score that any query sees, as a share of the largest number of the precision.
long double score_share(const test::Problem& problem) {
  const test::Oracle oracle(problem);
  long double largest = 0;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index h = 0; h < problem.heads; ++h)
      for (Index i = 0; i < problem.queries; ++i) largest = std::max(largest, oracle.row(b, h, i).largest_score);
  return largest / (problem.dtype == DType::f32 ? static_cast<long double>(std::numeric_limits<float>::max())
                                                : static_cast<long double>(std::numeric_limits<double>::max()));
}

const std::vector<test::Variant>& all_variants() {
  static const std::vector<test::Variant> kAll = test::variants();
  return kAll;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const unsigned choice = draws.byte();
  const DrawnProblem drawn(draws);
  const test::Variant& variant = all_variants()[choice % all_variants().size()];
  const test::Problem problem = test::with_variant(drawn.problem(), variant);
  const std::string place = concat(variant.name(), ": ", test::describe(problem));
  test::Solution solution;
  try {
    solution = test::solve(problem);
  } catch (const Error& error) {
    require_orderly(error, {ErrorKind::mismatch});
    require(score_share(problem) > 0.999L, concat("refused: ", error.message(), "; ", place));
    return 0;
  }
  const long double share = score_share(problem);
  require(share < 1.001L, "a score beyond the precision was not noticed: " + place);
  const test::Verdict verdict = test::Verifier(problem, solution).verify();
  require(verdict.failure.empty(), concat(verdict.failure, "; ", place));
  if (choice >= 224)
    require(test::solve(problem, {.threads = 2 + static_cast<int>(choice % 2)}) == solution,
            "other threads give other bytes: " + place);
  return 0;
}
