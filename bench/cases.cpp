#include "bench/cases.hpp"

#include <memory>

#include "attn/base/error.hpp"
#include "attn/core/projection.hpp"
#include "bench/problem.hpp"

namespace attn::bench {
namespace {

/// What a case does to a problem before it runs.
using Setup = std::function<void(Problem&)>;

double all_pairs(const Shape4& s) { return static_cast<double>(s.queries) * static_cast<double>(s.keys); }
double causal_pairs(const Shape4& s) { return static_cast<double>(s.queries) * static_cast<double>(s.queries + 1) / 2; }
double window_pairs(const Shape4& s, Index left) {
  double pairs = 0;
  for (Index i = 0; i < s.queries; ++i) pairs += static_cast<double>(std::min(i, left) + 1);
  return pairs;
}

/// A case whose problem is made when it first runs and kept until the case goes.
Case attention_case(const std::string& name, const Shape4& shape, double pairs, int threads, double must, double aim,
                    Setup setup = {}) {
  Case one;
  one.name = name;
  one.work = 4.0 * static_cast<double>(shape.head_size * shape.batch * shape.heads) * pairs;
  one.yardstick = shape.dtype == DType::f32 ? Yardstick::fma_f32 : Yardstick::fma_f64;
  one.threads = threads;
  one.must = must, one.aim = aim;
  const auto problem = std::make_shared<std::unique_ptr<Problem>>();
  one.prepare = [problem, shape, setup] {
    if (!*problem) {
      *problem = std::make_unique<Problem>(shape);
      if (setup) setup(**problem);
    }
    (*problem)->renew();
  };
  one.run = [problem, threads] { (*problem)->run(threads); };
  one.check = [problem] { return (*problem)->error_of_samples(); };
  return one;
}

void causal(Problem& problem) { problem.inputs.masks.causal = true; }

void add_full(std::vector<Case>& cases, int threads) {
  for (const Index L : {128, 512, 1024, 2048, 4096}) {
    const double must = L >= 2048 ? 0.72 : (L >= 512 ? 0.68 : 0.60), aim = L >= 2048 ? 0.82 : (L >= 512 ? 0.80 : 0.74);
    const Shape4 shape{.queries = L, .keys = L};
    cases.push_back(attention_case(concat("full d64 ", L), shape, all_pairs(shape), threads, must, aim));
  }
  for (const Index d : {32, 80, 128, 256}) {
    const Shape4 shape{.head_size = d};
    cases.push_back(attention_case(concat("full d", d, " 2048"), shape, all_pairs(shape), threads, d == 32 ? 0.65 : 0.72,
                                   d == 32 ? 0.73 : 0.84));
  }
  const Shape4 shape{};
  cases.push_back(attention_case("full d64 2048, one thread", shape, all_pairs(shape), 1, 0.72, 0.82));
}

void add_causal(std::vector<Case>& cases, int threads) {
  for (const Index L : {128, 512, 1024, 2048, 4096}) {
    const Shape4 shape{.queries = L, .keys = L};
    const double must = L >= 2048 ? 0.68 : (L >= 512 ? 0.60 : 0), aim = L >= 2048 ? 0.80 : (L >= 512 ? 0.72 : 0);
    cases.push_back(attention_case(concat("causal d64 ", L), shape, causal_pairs(shape), threads, must, aim, causal));
  }
  for (const Index d : {128, 256}) {
    const Shape4 shape{.head_size = d};
    cases.push_back(attention_case(concat("causal d", d, " 2048"), shape, causal_pairs(shape), threads, 0.68, 0.80, causal));
  }
}

void add_odd(std::vector<Case>& cases, int threads) {
  const auto add = [&](const std::string& name, const Shape4& shape) {
    cases.push_back(attention_case(name, shape, all_pairs(shape), threads, 0.68, 0.79));
  };
  add("cross 512 x 4096", {.queries = 512, .keys = 4096});
  add("cross 4096 x 512", {.queries = 4096, .keys = 512});
  add("odd 1000 x 777", {.queries = 1000, .keys = 777});
  add("odd 1111 x 1999 d 72", {.queries = 1111, .keys = 1999, .head_size = 72});
  add("GQA 32/8 d128 1024", {.heads = 32, .queries = 1024, .keys = 1024, .head_size = 128});
}

void add_masked(std::vector<Case>& cases, int threads) {
  const Shape4 shape{};
  cases.push_back(attention_case("added n x m mask 2048", shape, all_pairs(shape), threads, 0.63, 0.74,
                                 [](Problem& p) { p.add_mask(MaskKind::add, 1); }));
  cases.push_back(attention_case("keep n x m mask 2048 (half)", shape, all_pairs(shape), threads, 0, 0,
                                 [](Problem& p) { p.add_mask(MaskKind::keep, 0.5); }));
  for (const Index L : {4096, 8192}) {
    const Shape4 wide{.queries = L, .keys = L};
    cases.push_back(
        attention_case(concat("window 256 at ", L), wide, window_pairs(wide, 255), threads, 0.54, 0.64, [](Problem& p) {
          p.inputs.masks.causal = true;
          p.inputs.masks.window_left = 255;
        }));
  }
  cases.push_back(
      attention_case("softcap 30, 2048", shape, all_pairs(shape), threads, 0, 0, [](Problem& p) { p.options.softcap = 30; }));
  cases.push_back(attention_case("ALiBi causal 2048", shape, causal_pairs(shape), threads, 0, 0, [](Problem& p) {
    p.inputs.masks.causal = true;
    p.inputs.masks.alibi = true;
  }));
}

void add_weights(std::vector<Case>& cases, int threads) {
  const Shape4 shape{};
  cases.push_back(attention_case("weights, fresh memory, 2048", shape, all_pairs(shape), threads, 0.52, 0.60,
                                 [](Problem& p) { p.want_weights(true); }));
  cases.push_back(attention_case("weights, reused memory, 2048", shape, all_pairs(shape), threads, 0, 0,
                                 [](Problem& p) { p.want_weights(false); }));
  const Shape4 large{.queries = 4096, .keys = 4096};
  cases.push_back(attention_case("weights, fresh memory, 4096", large, all_pairs(large), threads, 0, 0,
                                 [](Problem& p) { p.want_weights(true); }));
  cases.push_back(attention_case("weights causal, fresh, 2048", shape, causal_pairs(shape), threads, 0, 0, [](Problem& p) {
    p.want_weights(true);
    causal(p);
  }));
}

void add_other(std::vector<Case>& cases, int threads) {
  const Shape4 wide{.dtype = DType::f64};
  cases.push_back(attention_case("float64 d64 2048", wide, all_pairs(wide), threads, 0.58, 0.70));
  cases.push_back(attention_case("float64 causal 2048", wide, causal_pairs(wide), threads, 0, 0, causal));
  const Shape4 tiny{.batch = 4096, .queries = 16, .keys = 16, .head_size = 32};
  cases.push_back(attention_case("4096 x 8 heads of 16 x 16 d32", tiny, all_pairs(tiny), threads, 0, 0));
  const Shape4 one{.heads = 1, .kv_heads = 1, .queries = 8192, .keys = 8192};
  cases.push_back(attention_case("one head 8192 causal", one, causal_pairs(one), threads, 0, 0, causal));
  const Shape4 few{.heads = 1, .kv_heads = 1, .queries = 16, .keys = 65536};
  cases.push_back(attention_case("one head, 16 queries, 65536 keys", few, all_pairs(few), threads, 0, 0));
  const Shape4 large{.queries = 32768, .keys = 32768};
  cases.push_back(attention_case("causal 32768", large, causal_pairs(large), threads, 0.70, 0, causal));
}

/// One query over a long cache: compared with reading keys and values once.
void add_decode(std::vector<Case>& cases, int threads) {
  for (const Index d : {64, 128}) {
    const Shape4 shape{.heads = 32, .queries = 1, .keys = 8192, .head_size = d};
    const auto problem = std::make_shared<std::unique_ptr<Problem>>(std::make_unique<Problem>(shape));
    Case one;
    one.name = concat("decode 32/8 heads, 8192 keys, d", d);
    one.work = static_cast<double>((*problem)->cache_bytes());
    one.yardstick = Yardstick::reading;
    one.threads = threads;
    one.must = d == 64 ? 0.55 : 0.42, one.aim = d == 64 ? 0.70 : 0.60;
    one.memory = (*problem)->keys_and_values();
    one.run = [problem, threads] { (*problem)->run(threads); };
    one.check = [problem] { return (*problem)->error_of_samples(); };
    cases.push_back(one);
  }
}

void add_projections(std::vector<Case>& cases, int threads) {
  for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) {
    constexpr Index kRows = 2048, kWidth = 768;
    struct Arrays {
      Array x, weight;
    };
    const auto arrays = std::make_shared<Arrays>();
    Case one;
    one.name = layout == WeightLayout::in_out ? "X·W 2048 x 768 x 768" : "X·Wt 2048 x 768 x 768";
    one.work = 2.0 * kRows * kWidth * kWidth;
    one.threads = threads;
    one.must = 0.80;
    one.prepare = [arrays] {
      if (arrays->x.rank() == 2) return;
      const MemoryBudget budget;
      arrays->x = make_array(DType::f32, {kRows, kWidth}, budget, "x");
      arrays->weight = make_array(DType::f32, {kWidth, kWidth}, budget, "weight");
      for (Index i = 0; i < kRows * kWidth; ++i) arrays->x.data<float>()[i] = static_cast<float>(i % 17) / 17;
      for (Index i = 0; i < kWidth * kWidth; ++i) arrays->weight.data<float>()[i] = static_cast<float>(i % 19) / 19;
    };
    one.run = [arrays, layout, threads] {
      Projection projection;
      projection.weight = &arrays->weight;
      projection.layout = layout;
      RunContext run;
      run.threads = threads;
      project(arrays->x, projection, {}, run);
    };
    cases.push_back(one);
  }
}

}  // namespace

std::vector<Case> all_cases(int threads) {
  std::vector<Case> cases;
  add_full(cases, threads);
  add_causal(cases, threads);
  add_odd(cases, threads);
  add_masked(cases, threads);
  add_decode(cases, threads);
  add_weights(cases, threads);
  add_other(cases, threads);
  add_projections(cases, threads);
  return cases;
}

}  // namespace attn::bench
