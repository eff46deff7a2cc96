// What the golden cases of the layer do not test: its tensors, modes, other types and errors.

#include "firn/nn/min_max_quantize.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

Tensor Vector(std::vector<float> v) { return FromVector(std::move(v)); }

std::vector<float> RangeOf(const MinMaxQuantize& layer) {
  return {layer.qr_min().Item<float>(), layer.qr_max().Item<float>()};
}

TEST(MinMaxQuantizeTest, OnlyARangeThatNothingElseMovesIsLearnt) {
  const MinMaxQuantize learnt;
  EXPECT_EQ(RangeOf(learnt), (std::vector<float>{-6, 6}));
  ASSERT_EQ(learnt.named_parameters().size(), 2U);
  EXPECT_EQ(learnt.named_parameters()[0].name, "qr_min");
  EXPECT_EQ(learnt.named_parameters()[1].name, "qr_max");
  for (const nn::MinMaxQuantizeOptions& o :
       {nn::MinMaxQuantizeOptions{.x_min_max = true}, nn::MinMaxQuantizeOptions{.ema = true}}) {
    const MinMaxQuantize layer(o);
    EXPECT_TRUE(layer.parameters().empty());
    ASSERT_EQ(layer.named_buffers().size(), 2U);
    EXPECT_EQ(layer.named_buffers()[0].name, "qr_min");
    EXPECT_EQ(layer.named_buffers()[1].name, "qr_max");
  }
}

TEST(MinMaxQuantizeTest, TrainingMovesTheRangeAndEvaluationKeepsIt) {
  MinMaxQuantize layer({.ql_max = 3, .decay = 0.5, .x_min_max = true, .ema = true});
  layer(Vector({-2, 0, 10}));
  EXPECT_EQ(RangeOf(layer), (std::vector<float>{-4, 8}));
  layer.Eval();
  EXPECT_EQ(layer(Vector({-100, 1, 3, 100})).ToVector<float>(), (std::vector<float>{-4, 0, 4, 8}));
  EXPECT_EQ(RangeOf(layer), (std::vector<float>{-4, 8}));
  layer.Train();
  layer(Zeros({0}));  // has no extremes
  EXPECT_EQ(RangeOf(layer), (std::vector<float>{-4, 8}));

  MinMaxQuantize last({.x_min_max = true});  // without averages
  last(Vector({-2, 0, 10}));
  last.Eval();
  last(Vector({-100, 100}));
  EXPECT_EQ(RangeOf(last), (std::vector<float>{-2, 10}));
}

TEST(MinMaxQuantizeTest, FrozenStepsMoveTheRange) {
  MinMaxQuantize layer({.decay = 0.5, .x_min_max = true, .ema = true});
  StaticGraph step = Freeze([&](const Tensor& x) { return layer(x); }, Vector({-6, 6}));
  step(Vector({-2, 10}));
  EXPECT_EQ(RangeOf(layer), (std::vector<float>{-4, 8}));
}

// The range has another type than the operation wants.
TEST(MinMaxQuantizeTest, ConvertedLayersKeepTheirRange) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
    MinMaxQuantize layer({.decay = 0.5, .x_min_max = true, .ema = true});
    for (const DType of_x : {DType::kF32, dtype}) {
      EXPECT_EQ(layer(Vector({-6, 6}).To(of_x)).dtype(), of_x);
    }
    layer.To(dtype);
    for (const DType of_x : {DType::kF32, dtype}) {
      const auto copy = Clone(layer);
      EXPECT_EQ((*copy)(Vector({-2, 10}).To(of_x)).dtype(), of_x);
      EXPECT_EQ(copy->qr_min().dtype(), dtype);
      EXPECT_EQ(copy->qr_min().Item<double>(), -4);
      EXPECT_EQ(copy->qr_max().Item<double>(), 8);
    }
  }
}

TEST(MinMaxQuantizeTest, TellsWhatDoesNotFit) {
  EXPECT_EQ(ErrorOf([] { MinMaxQuantize({.ql_min = 3, .ql_max = 3}); }),
            "nn::MinMaxQuantize: ql_min must be below ql_max, got 3 and 3");
  EXPECT_EQ(ErrorOf([] { MinMaxQuantize({.decay = 1.5}); }),
            "nn::MinMaxQuantize: decay is 1.5 (want 0 to 1)");
  EXPECT_EQ(ErrorOf([] { MinMaxQuantize({.eps = 0}); }),
            "nn::MinMaxQuantize: eps must be above 0, got 0");
  MinMaxQuantize layer;
  EXPECT_NE(ErrorOf([&] { layer(Tensor()); }).find("nn::MinMaxQuantize"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { layer(Ones({2}, DType::kI32)); }).find("x must be f32"),
            std::string::npos);
}

}  // namespace
}  // namespace firn::nn
