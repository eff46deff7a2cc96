// What the functions of convolutions do before they call an operation: padding, batches, errors.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Doubles = std::vector<double>;
using testing::ErrorOf;

bool Says(const std::string& error, const std::string& part) {
  return error.find(part) != std::string::npos;
}

TEST(Conv1dTest, IsASlidingDotProduct) {
  const Tensor x = FromVector(Doubles{1, 2, 3, 4, 5}, Shape({1, 1, 5}));
  const Tensor w = FromVector(Doubles{1, 0, -1}, Shape({1, 1, 3}));
  const Tensor b = FromVector(Doubles{10});
  EXPECT_EQ(Conv1d(x, w, b).ToVector<double>(), (Doubles{8, 8, 8}));
  EXPECT_EQ(Conv1d(x, w, {}, {.padding = kSame}).ToVector<double>(), (Doubles{-2, -2, -2, -2, 4}));
  EXPECT_EQ(Conv1d(x, w, {}, {.stride = 2, .padding = 1}).ToVector<double>(), (Doubles{-2, -2, 4}));
  EXPECT_EQ(Conv1d(x, w, {}, {.dilation = 2}).ToVector<double>(), (Doubles{-4}));
}

TEST(ConvTest, RefusesRanksThatFitNeitherWithNorWithoutABatch) {
  const std::string one = ErrorOf([] { Conv1d(Zeros({5}), Zeros({1, 2, 3})); });
  EXPECT_TRUE(Says(one, "conv1d: x must have 3 dimensions, or 2 without a batch; got f32 [5]"))
      << one;
  const std::string two = ErrorOf([] { Conv2d(Zeros({1, 1, 2, 4, 4}), Zeros({1, 2, 3, 3})); });
  EXPECT_TRUE(Says(two, "conv2d: x must have 4 dimensions, or 3 without a batch; got f32 [1, 1, "))
      << two;
  const std::string three = ErrorOf([] {
    ConvTranspose3d(Zeros({2, 4, 4}), Zeros({2, 1, 2, 2, 2}));
  });
  EXPECT_TRUE(Says(three, "conv_transpose3d: x must have 5 dimensions, or 4 without a batch; got"))
      << three;
  const std::string weight = ErrorOf([] { Conv3d(Zeros({2, 4, 4, 4}), Zeros({1, 2, 3, 3})); });
  EXPECT_TRUE(Says(weight, "conv3d: weight must have 5 dimensions")) << weight;
}

TEST(ConvTest, RefusesSizesOfOtherCountsAndBeyondTheBounds) {
  const Tensor x = Zeros({1, 2, 6, 6}), w = Zeros({3, 2, 3, 3}), t = Zeros({2, 3, 3, 3});
  const auto conv = [&](const ConvOptions& o) { return ErrorOf([&] { Conv2d(x, w, {}, o); }); };
  const auto transposed = [&](const ConvTransposeOptions& o) {
    return ErrorOf([&] { ConvTranspose2d(x, t, {}, o); });
  };
  EXPECT_TRUE(
      Says(conv({.stride = {1, 1, 1}}), "conv2d: stride (1, 1, 1) has 3 numbers (want 1 or 2)"));
  EXPECT_TRUE(Says(conv({.padding = {0, -1}}), "conv2d: padding (0, -1) (want 0 to 16777216)"));
  EXPECT_TRUE(Says(conv({.padding = kSame, .dilation = {1, 2, 3}}), "dilation (1, 2, 3) has 3"));
  EXPECT_TRUE(Says(conv({.stride = 2, .padding = kSame}), "padding kSame wants stride 1"));
  EXPECT_TRUE(Says(conv({.dilation = INT64_MAX}), "dilation (9223372036854775807, 92233720"));
  EXPECT_TRUE(Says(transposed({.output_padding = {0, 0, 0}}), "output_padding (0, 0, 0) has 3"));
  EXPECT_TRUE(Says(transposed({.stride = 2, .output_padding = {0, 2}}),
                   "output_padding (0, 2) must be at least 0 and smaller than stride or dilation"));
  EXPECT_TRUE(Says(transposed({.stride = -1}), "stride (-1, -1) (want 1 to"));
}

// Expects the same result and gradient for one image by itself and as a batch of one.
template <class F>
void ExpectTheSameWithoutABatch(const Tensor& x, F f) {
  Tensor alone = x.Detach(), batch = Unsqueeze(x, 0).Detach();
  alone.SetRequiresGrad();
  batch.SetRequiresGrad();
  const Tensor y = f(alone), many = f(batch);
  ASSERT_EQ(y.rank(), x.rank());
  EXPECT_EQ(y.ToVector<float>(), many.ToVector<float>());
  ASSERT_EQ(many.shape(), Unsqueeze(y, 0).shape());
  EXPECT_EQ(Grad(Sum(y * y), alone).ToVector<float>(),
            Grad(Sum(many * many), batch).ToVector<float>());
}

TEST(ConvTest, ImagesWithoutABatchAreBatchesOfOne) {
  ManualSeed(1);
  const Tensor bias = Randn({4});
  const Tensor w1 = Randn({4, 3, 2}), w2 = Randn({4, 3, 2, 2}), w3 = Randn({4, 3, 2, 2, 2});
  ExpectTheSameWithoutABatch(Randn({3, 5}), [&](const Tensor& x) { return Conv1d(x, w1, bias); });
  ExpectTheSameWithoutABatch(Randn({3, 5, 4}),
                             [&](const Tensor& x) { return Conv2d(x, w2, bias, {.stride = 2}); });
  ExpectTheSameWithoutABatch(
      Randn({3, 5, 4}), [&](const Tensor& x) { return Conv2d(x, w2, {}, {.padding = kSame}); });
  ExpectTheSameWithoutABatch(Randn({3, 3, 4, 3}),
                             [&](const Tensor& x) { return Conv3d(x, w3, bias); });
  ExpectTheSameWithoutABatch(Randn({4, 5}), [&](const Tensor& x) {
    return ConvTranspose1d(x, w1, {}, {.stride = 2, .output_padding = 1});
  });
  ExpectTheSameWithoutABatch(Randn({4, 3, 2}),
                             [&](const Tensor& x) { return ConvTranspose2d(x, w2); });
  ExpectTheSameWithoutABatch(Randn({4, 2, 3, 2}),
                             [&](const Tensor& x) { return ConvTranspose3d(x, w3); });
}

// A convolution with one-element windows along its outer dimensions gives the bits of one of fewer
// dimensions, by f64 sums in the same order.
TEST(ConvTest, LinesAndVolumesAgreeWithImages) {
  ManualSeed(2);
  const auto d = [](const Shape& s) { return Randn(s).To(DType::kF64); };
  const Tensor x = d({2, 3, 4, 5}), w = d({2, 3, 2, 3});
  const Tensor y = Conv2d(x, w, {}, {.stride = {1, 2}, .padding = {1, 0}});
  const Tensor y3 =
      Conv3d(Unsqueeze(x, 2), Unsqueeze(w, 2), {}, {.stride = {1, 1, 2}, .padding = {0, 1, 0}});
  EXPECT_EQ(Squeeze(y3, 2).ToVector<double>(), y.ToVector<double>());
  const Tensor line = d({2, 3, 7}), v = d({4, 3, 2});
  EXPECT_EQ(Conv1d(line, v, {}, {.padding = 1, .dilation = 2}).ToVector<double>(),
            Conv2d(Unsqueeze(line, 2), Unsqueeze(v, 2), {}, {.padding = {0, 1}, .dilation = {1, 2}})
                .ToVector<double>());
}

}  // namespace
}  // namespace firn
