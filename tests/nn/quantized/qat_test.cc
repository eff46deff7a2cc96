// Layers that are trained for quantization: to which numbers they round, how ranges move, and that
// quantized layers with their numbers compute the same.

#include "firn/nn/quantized/qat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::nn::quantized {
namespace {

using firn::testing::ErrorOf;

template <class F>
void ExpectError(F f, const char* part) {
  const std::string error = ErrorOf(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

Tensor Vector(std::vector<float> v) { return FromVector(std::move(v)); }

TEST(FakeQuantizeWeightsTest, RoundsByTheLargestOfEachRow) {
  Tensor w = FromVector(std::vector<float>{127, 1.4F, -254, 3.2F, 0, 0}, Shape({3, 2}));
  w.SetRequiresGrad();
  const Tensor y = FakeQuantizeWeights(w);
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{127, 1, -254, 4, 0, 0}));
  EXPECT_EQ(Grad(Sum(y), w).ToVector<float>(), std::vector<float>(6, 1));
  ExpectError([] { FakeQuantizeWeights(Ones({})); }, "w must be floating [out, ...]");
  ExpectError([] { FakeQuantizeWeights(Zeros({2, 2}, DType::kI8)); }, "w must be floating");
}

TEST(FakeQuantizeTest, TheRangeFollowsBatchesInTraining) {
  FakeQuantize layer({.averaging = 0.5});
  EXPECT_EQ(layer.quantization().scale, 1);  // of a range that is 0
  layer(Vector({-1, 1, 4.1F}));
  const QuantizationOptions u8{.dtype = DType::kU8};
  const Quantization first = QuantizationOf(-1, 4.1F, u8);
  EXPECT_FLOAT_EQ(static_cast<float>(layer.quantization().scale), static_cast<float>(first.scale));
  EXPECT_EQ(layer.quantization().zero_point, first.zero_point);
  layer(Vector({-3, 8.2F}));
  EXPECT_FLOAT_EQ(layer.state_dict().Find("low")->Item<float>(), -2);
  EXPECT_FLOAT_EQ(layer.state_dict().Find("high")->Item<float>(), 6.15F);
  layer.Eval();
  // Values are cut off at the ends of the range, and rounded to the grid of the first number.
  const Quantization q = layer.quantization();
  const Tensor y = layer(Vector({-100, 0, 100}));
  const auto scale = static_cast<float>(q.scale);
  EXPECT_FLOAT_EQ(y.ToVector<float>()[0], static_cast<float>(-q.zero_point) * scale);
  EXPECT_EQ(y.ToVector<float>()[1], 0);
  EXPECT_FLOAT_EQ(y.ToVector<float>()[2], static_cast<float>(255 - q.zero_point) * scale);
  EXPECT_EQ(layer.state_dict().Find("num_batches_tracked")->Item<int64_t>(), 2);
}

TEST(FakeQuantizeTest, SymmetricRangesHaveTheirZeroInTheMiddle) {
  FakeQuantize layer({.dtype = DType::kI8, .symmetric = true});
  layer(Vector({-1, 12.7F}));
  EXPECT_FLOAT_EQ(static_cast<float>(layer.quantization().scale), 0.1F);
  EXPECT_EQ(layer.quantization().zero_point, 0);
  EXPECT_EQ(layer.quantization().dtype, DType::kI8);
}

TEST(FakeQuantizeTest, FrozenStepsMoveTheRange) {
  FakeQuantize layer({.averaging = 0.5});
  StaticGraph step = Freeze([&](const Tensor& x) { return layer(x); }, Vector({0, 1}));
  step(Vector({0, 3}));
  EXPECT_EQ(layer.state_dict().Find("high")->Item<float>(), 2);
}

TEST(FakeQuantizeTest, Errors) {
  ExpectError([] { FakeQuantize({.dtype = DType::kI32}); }, "dtype must be i8 or u8, got i32");
  for (const double averaging : std::vector<double>{0, 1.5, NAN}) {
    ExpectError([&] { FakeQuantize({.averaging = averaging}); }, "averaging must lie in (0, 1]");
  }
}

// Both round alike, so they differ by the rounding of sums in f32.
void ExpectAlike(const Tensor& got, const Tensor& want) {
  const double most = Amax(Abs(want)).Item<double>();
  EXPECT_LT(Amax(Abs(Sub(got, want))).Item<double>(), 1e-5 * most);
}

TEST(QatLinearTest, TheQuantizedLayerComputesTheSame) {
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    QatLinear layer({.out = 7, .dtype = dtype});  // its size is known from the first input
    layer(Randn({32, 20}));
    layer.Eval();
    Linear integers({.in = 20, .out = 7, .dtype = dtype});
    integers.Take(layer);
    const NoGradScope no_grad;
    const Tensor x = Randn({5, 20});
    ExpectAlike(integers(x), layer(x));
  }
}

TEST(QatConv2dTest, TheQuantizedLayerComputesTheSame) {
  const Conv2dOptions options{
      .in = 4, .out = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2};
  QatConv2d layer(options);
  layer(Randn({8, 4, 9, 9}));
  layer.Eval();
  Conv2d integers(options);
  integers.Take(layer);
  const NoGradScope no_grad;
  const Tensor x = Randn({2, 4, 9, 9});
  ExpectAlike(integers(x), layer(x));
  Conv2d other({.in = 4, .out = 6, .kernel = 3, .groups = 2});
  ExpectError([&] { other.Take(layer); }, "takes a layer of its own stride");
}

TEST(QatLinearTest, LoadsAPlainLayerAndLearns) {
  nn::Linear plain({.in = 4, .out = 3});
  QatLinear layer({.in = 4, .out = 3});
  const LoadReport report = layer.LoadStateDict(plain.state_dict(), {.strict = false});
  EXPECT_TRUE(layer.weight().Equals(plain.weight()));
  layer(Randn({8, 4})).Sum().Backward();
  EXPECT_GT(Amax(Abs(layer.weight().grad())).Item<double>(), 0);
  EXPECT_EQ(report.missing.size(), 3U);  // of the range of inputs
  EXPECT_EQ(layer.ToString(), "QatLinear(4 -> 3\n  (input): FakeQuantize()\n)");
}

}  // namespace
}  // namespace firn::nn::quantized
