#include <cstdio>

#include "attn/attn.hpp"
int main() {
  const double x[] = {1, 0, 2, 0, 0, 1, 0, 2};
  double lse[2], scores = 0;
  attn::AttentionInputs inputs;
  inputs.query = {attn::DType::f64, x, 1, 1, 2, 4, 8, 8, 4, "x"}, inputs.key = inputs.query;
  attn::attend(inputs, {}, {.lse = attn::MutableTensorView{attn::DType::f64, lse, 2, 2, 1}}, {});
  for (const double row : lse) scores += row;
  std::printf("%.*s %s\n", int(attn::version().size()), attn::version().data(), attn::format_rounded(scores, 6).c_str());
}
