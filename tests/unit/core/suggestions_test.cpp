#include <gtest/gtest.h>

#include "attn/base/error.hpp"
#include "attn/core/attention.hpp"

namespace attn {
namespace {

std::string hint_of(const AttentionOptions& options) {
  const double one = 1;
  double output = 0;
  AttentionInputs inputs;
  inputs.query = {DType::f64, &one, 1, 1, 1, 1, 1, 1, 1, "query"};
  inputs.key = inputs.query;
  AttentionOutputs outputs;
  outputs.lse = MutableTensorView{DType::f64, &output, 1, 1, 1};
  try {
    attend(inputs, options, outputs, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.hint();
  }
  return "nothing was thrown";
}

TEST(Suggestions, Kernels) {
  AttentionOptions options;
  options.kernel = "refrence";
  EXPECT_EQ(hint_of(options), "did you mean 'reference'?");
  options.kernel = "tield";
  EXPECT_EQ(hint_of(options), "did you mean 'tiled'?");
  options.kernel = "gpu";
  EXPECT_EQ(hint_of(options), "");
}

TEST(Suggestions, InstructionSets) {
  AttentionOptions options;
  options.kernel = "tiled";
  options.simd = "avx22";
  EXPECT_EQ(hint_of(options), "did you mean 'avx2'?");
  options.simd = "sse2";
  EXPECT_EQ(hint_of(options), "nothing was thrown");
}

}  // namespace
}  // namespace attn
