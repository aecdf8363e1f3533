// A small problem of attention, solved by one of the kernels and held against an oracle in long double: every element lies
// within its bound, other numbers of threads give the same bytes, and a problem is refused only when a scaled score is
// beyond the precision.
#include "fuzz/support/check.hpp"
#include "fuzz/support/drawn_problem.hpp"
#include "support/verify.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

/// A score as a share of the largest number of the precision.
long double share_of_largest(long double score, DType dtype) {
  return score / (dtype == DType::f32 ? static_cast<long double>(std::numeric_limits<float>::max())
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
  const long double share = share_of_largest(drawn.largest_score(), problem.dtype);
  test::Solution solution;
  try {
    solution = test::solve(problem);
  } catch (const Error& error) {
    require_orderly(error, {ErrorKind::mismatch});
    require(share > 0.999L, concat("refused: ", error.message(), "; ", place));
    return 0;
  }
  require(share < 1.001L, "a score beyond the precision was not noticed: " + place);
  const test::Verdict verdict = test::Verifier(problem, solution).verify();
  require(verdict.failure.empty(), concat(verdict.failure, "; ", place));
  if (choice >= 224)
    require(test::solve(problem, {.threads = 2 + static_cast<int>(choice % 2)}) == solution,
            "other threads give other bytes: " + place);
  return 0;
}
