// Quantized layers against the layers that they were taken from: inputs and weights are first made
// multiples of their scales and biases whole, so that nothing is rounded.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/nn/clone.h"
#include "firn/nn/quantized/conv.h"
#include "firn/nn/quantized/linear.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

template <class F>
void ExpectError(F f, const char* part) {
  const std::string error = ErrorOf(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

// Whole numbers; each row of weights has a 127, so that its scale is 1.
Tensor Whole(const Shape& shape, int64_t low, int64_t high, uint64_t seed) {
  RandomGenerator generator(seed);
  return Cast(Randint(low, high, shape, DType::kI64, {.generator = &generator}), DType::kF32);
}
Tensor Weights(const Shape& shape, uint64_t seed) {
  Tensor rows = Reshape(Whole(shape, -127, 128, seed), {shape[0], -1});
  Select(rows, 1, 0).Fill(127);
  return Reshape(rows, shape);
}

TEST(QuantizedLinearTest, IsTheLayerThatItWasTakenFrom) {
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    for (const bool bias : {true, false}) {
      nn::Linear plain({.in = 40, .out = 9, .bias = bias});
      NoGradScope no_grad;
      plain.parameters()[0].CopyFrom(Weights({9, 40}, 1));
      if (bias) plain.parameters()[1].CopyFrom(Whole({9}, -50, 50, 4));
      nn::quantized::Linear layer({.in = 40, .out = 9, .bias = bias, .dtype = dtype});
      const int64_t zero = dtype == DType::kU8 ? 100 : -28;
      layer.Take(plain, {.scale = 0.5, .zero_point = zero, .dtype = dtype});
      const Tensor x = Mul(Whole({2, 5, 40}, -100, 150, 2), 0.5);
      const Tensor y = layer(x), want = plain(x);
      EXPECT_EQ(y.shape(), want.shape());
      EXPECT_TRUE(y.Equals(want));
      EXPECT_FALSE(y.requires_grad());
      EXPECT_EQ(layer(x.To(DType::kF16)).dtype(), DType::kF16);
    }
  }
}

TEST(QuantizedLinearTest, IsSavedAndCloned) {
  nn::Linear plain({.in = 4, .out = 3});
  nn::quantized::Linear layer({.in = 4, .out = 3});
  layer.Take(plain, {.scale = 0.1, .zero_point = 7, .dtype = DType::kU8});
  EXPECT_EQ(layer.state_dict().size(), 5u);
  EXPECT_TRUE(layer.parameters().empty());
  const Tensor x = Whole({2, 4}, 0, 9, 3);
  const auto other = nn::Clone(layer);
  EXPECT_TRUE((*other)(x).Equals(layer(x)));
}

TEST(QuantizedLinearTest, WeightsOfNothingAndNextToNothing) {
  nn::Linear plain({.in = 2, .out = 3, .bias = false});
  NoGradScope no_grad;
  const std::vector<float> weights = {0, 0, 1e-44F, -1e-44F, 254, -127};
  plain.parameters()[0].CopyFrom(FromVector(weights, Shape({3, 2})));
  nn::quantized::Linear layer({.in = 2, .out = 3, .bias = false});
  layer.Take(plain, {.scale = 1, .dtype = DType::kU8});
  EXPECT_EQ(layer(Ones({1, 2})).ToVector<double>(), (std::vector<double>{0, 0, 126}));
}

// Scales of half types whose product they do not hold.
TEST(QuantizedLinearTest, HalfTypesMultiplyScalesInF32) {
  nn::Linear plain({.in = 2, .out = 2});
  NoGradScope no_grad;
  plain.parameters()[0].CopyFrom(Full({2, 2}, 127 * 0x1p-13));
  plain.parameters()[1].CopyFrom(FromVector(std::vector<float>{1, 0}));
  nn::quantized::Linear layer({.in = 2, .out = 2});
  layer.Take(plain, {.scale = 0x1p-14, .dtype = DType::kU8});
  const Tensor x = Full({1, 2}, 100 * 0x1p-14), want = layer(x);
  EXPECT_NEAR(want.ToVector<double>()[1], 2 * 127 * 100 * 0x1p-27, 1e-9);
  layer.To(DType::kF16);
  EXPECT_TRUE(layer(x).Equals(want));
  EXPECT_TRUE(layer(x.To(DType::kF16)).Equals(want.To(DType::kF16)));

  nn::Conv2d plain_conv({.in = 1, .out = 1, .bias = false});
  plain_conv.parameters()[0].CopyFrom(Full({1, 1, 1, 1}, 127 * 0x1p-13));
  nn::quantized::Conv2d conv({.in = 1, .out = 1, .bias = false});
  conv.Take(plain_conv, {.scale = 0x1p-14, .dtype = DType::kU8});
  const Tensor image = Full({1, 1, 1, 1}, 100 * 0x1p-14);
  conv.To(DType::kF16);
  EXPECT_NEAR(conv(image).Item<double>(), 127 * 100 * 0x1p-27, 1e-9);
}

TEST(QuantizedLinearTest, SaysWhatItIs) {
  const nn::quantized::Linear layer({.in = 2, .out = 3, .bias = false, .dtype = DType::kI8});
  EXPECT_EQ(layer.Describe(), "2 -> 3, bias=false, dtype=i8");
}

TEST(QuantizedLinearTest, Errors) {
  nn::Linear plain({.in = 4, .out = 3});
  nn::quantized::Linear layer({.in = 5, .out = 3}), fits({.in = 4, .out = 3});
  ExpectError([&] { layer.Take(plain, {.dtype = DType::kU8}); },
              "takes a weight [3, 5], got [3, 4]");
  ExpectError([&] { fits.Take(plain, {.dtype = DType::kI8}); }, "takes a quantization to u8");
  // The last two are 0 and infinite in the buffer.
  for (const double scale : std::vector<double>{0, -1, NAN, INFINITY, 1e-50, 1e50}) {
    ExpectError([&] { fits.Take(plain, {.scale = scale, .dtype = DType::kU8}); },
                "a scale above 0");
  }
  ExpectError([&] { fits.Take(plain, {.zero_point = 256, .dtype = DType::kU8}); },
              "with a zero point of it, got u8, 1 and 256");
  const NoGradScope no_grad;
  plain.parameters()[0].CopyFrom(Full({3, 4}, NAN));
  ExpectError([&] { fits.Take(plain, {.dtype = DType::kU8}); }, "takes finite weights, got nan");
  nn::quantized::Linear bare({.in = 4, .out = 3, .bias = false});
  ExpectError([&] { bare.Take(plain, {.dtype = DType::kU8}); }, "takes a bias absent");
  ExpectError([] { nn::quantized::Linear({.in = 4, .out = 3, .dtype = DType::kI32}); },
              "dtype must be i8 or u8, got i32");
}

TEST(QuantizedConv2dTest, IsTheLayerThatItWasTakenFrom) {
  nn::Conv2d plain({.in = 4, .out = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2});
  NoGradScope no_grad;
  plain.parameters()[0].CopyFrom(Weights({6, 2, 3, 3}, 1));
  plain.parameters()[1].CopyFrom(Whole({6}, -50, 50, 4));
  nn::quantized::Conv2d layer(
      {.in = 4, .out = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2});
  layer.Take(plain, {.scale = 0.25, .zero_point = 100, .dtype = DType::kU8});
  const Tensor x = Mul(Whole({2, 4, 9, 7}, -100, 150, 2), 0.25);
  const Tensor y = layer(x), want = plain(x);
  EXPECT_EQ(y.shape(), want.shape());
  EXPECT_TRUE(y.Equals(want));
  EXPECT_EQ(layer.state_dict().size(), 5u);
}

TEST(QuantizedConv2dTest, Errors) {
  ExpectError([] { nn::quantized::Conv2d({.in = 4, .out = 6, .groups = 3}); }, "divide");
  ExpectError([] { nn::quantized::Conv2d({.in = 4, .out = 6, .stride = 0}); }, "stride");
  ExpectError(
      [] {
        nn::quantized::Conv2d({.in = 4, .out = 6, .kernel = {3, 2}, .padding = kSame});
      },
      "kernels of odd extent and stride 1, got (3, 2) and 1");
  ExpectError([] { nn::quantized::Conv2d({.in = 4, .out = 6, .stride = 2, .padding = kSame}); },
              "kernels of odd extent and stride 1");
  nn::Conv2d plain({.in = 4, .out = 6, .kernel = 3});
  nn::quantized::Conv2d layer({.in = 4, .out = 6, .kernel = 2});
  ExpectError([&] { layer.Take(plain, {.dtype = DType::kU8}); }, "takes a weight [6, 4, 2, 2]");
  nn::quantized::Conv2d wide({.in = 4, .out = 6, .kernel = 3, .stride = 2});
  ExpectError([&] { wide.Take(plain, {.dtype = DType::kU8}); },
              "of its own stride, dilation, groups and padding, 4 -> 6, kernel=3, "
              "stride=2, got 4 -> 6, kernel=3");
}

}  // namespace
}  // namespace firn
