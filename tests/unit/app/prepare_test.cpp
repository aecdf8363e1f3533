#include "app/prepare.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "app/compute_outputs.hpp"
#include "attn/base/error.hpp"

namespace attn::app {
namespace {

/// 0, 1, 2, ... in C order.
std::shared_ptr<const Array> counting(Shape shape) {
  Array array = make_array(DType::f64, std::move(shape), MemoryBudget(), "a test");
  std::iota(array.data<double>(), array.data<double>() + array.size(), 0.0);
  return std::make_shared<const Array>(std::move(array));
}

TEST(SplitHeads, FindsEveryElementInEveryForm) {
  const Index batch = 2, heads = 3, rows = 4, columns = 5;
  struct Form {
    Shape shape;
    TensorLayout layout;
    Index b, h, r;  // what one step along each axis is worth
  };
  const Form forms[] = {{{rows, heads * columns}, TensorLayout::bhnd, 0, columns, heads * columns},
                        {{batch, rows, heads * columns}, TensorLayout::bhnd, rows * heads * columns, columns, heads * columns},
                        {{batch, heads, rows, columns}, TensorLayout::bhnd, heads * rows * columns, rows * columns, columns},
                        {{batch, rows, heads, columns}, TensorLayout::bnhd, heads * rows * columns, columns, heads * columns}};
  for (const Form& form : forms) {
    const auto array = counting(form.shape);
    const TensorView view = split_heads(*array, heads, form.layout, "q.npy");
    EXPECT_EQ(view.batch, form.shape.size() == 2 ? 1 : batch);
    EXPECT_EQ(view.heads, heads);
    EXPECT_EQ(view.rows, rows);
    EXPECT_EQ(view.columns, columns);
    for (Index b = 0; b < view.batch; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index r = 0; r < rows; ++r)
          EXPECT_EQ(*view.row<double>(b, h, r), static_cast<double>(b * form.b + h * form.h + r * form.r))
              << shape_text(form.shape);
  }
}

TEST(PutPastFirst, KeepsTheFormOfThePast) {
  AttentionShape shape;
  shape.kv_heads = 2;
  Tensor fresh;
  fresh.array = counting({3, 4});  // two heads of size 2
  Source past;
  past.array = counting({1, 2, 1, 2});
  const Joined joined = put_past_first(past, fresh, shape, "past_key", MemoryBudget());
  EXPECT_EQ(joined.array->shape, (Shape{1, 2, 4, 2}));
  const double expected[] = {0, 1, 0, 1, 4, 5, 8, 9, 2, 3, 2, 3, 6, 7, 10, 11};
  for (Index i = 0; i < 16; ++i) EXPECT_EQ(joined.array->data<double>()[i], expected[i]) << i;

  past.array = counting({2, 4});
  const Joined flat = put_past_first(past, fresh, shape, "past_key", MemoryBudget());
  EXPECT_EQ(flat.array->shape, (Shape{5, 4}));
  EXPECT_EQ(flat.array->data<double>()[7], 7);
  EXPECT_EQ(flat.array->data<double>()[8], 0);
  EXPECT_EQ(flat.view.rows, 5);

  past.array = counting({2, 6});
  try {
    put_past_first(past, fresh, shape, "past_key", MemoryBudget());
    FAIL() << "a past of another width was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::mismatch);
    EXPECT_NE(error.message().find("[2,6]"), std::string::npos);
  }
}

TEST(WeightsShape, HasAHeadAxisWhereItShould) {
  AttentionShape one, several, batched;
  one.queries = several.queries = batched.queries = 3;
  one.keys = several.keys = batched.keys = 5;
  several.heads = batched.heads = 4;
  batched.rank = 3;
  batched.batch = 2;
  EXPECT_EQ(weights_shape(one, {}), (Shape{3, 5}));
  EXPECT_EQ(weights_shape(several, {}), (Shape{4, 3, 5}));
  EXPECT_EQ(weights_shape(batched, {}), (Shape{2, 4, 3, 5}));
  EXPECT_EQ(weights_shape(several, {{2}, true, Reduce::none}), (Shape{3, 5}));
  EXPECT_EQ(weights_shape(several, {{2, 1}, false, Reduce::none}), (Shape{2, 3, 5}));
  EXPECT_EQ(weights_shape(one, {{0}, false, Reduce::none}), (Shape{1, 3, 5}));
  EXPECT_EQ(weights_shape(several, {{}, false, Reduce::mean}), (Shape{3, 5}));
  EXPECT_EQ(weights_shape(batched, {{}, false, Reduce::max}), (Shape{2, 3, 5}));
  batched.heads = 1;
  EXPECT_EQ(weights_shape(batched, {}), (Shape{2, 1, 3, 5}));
  EXPECT_EQ(rows_shape(one), (Shape{3}));
  EXPECT_EQ(rows_shape(several), (Shape{4, 3}));
  EXPECT_EQ(rows_shape(batched), (Shape{2, 1, 3}));
}

}  // namespace
}  // namespace attn::app
