// What layers of pooling, of convolutions of other ranks and of windows do beside calling a
// function.

#include "firn/nn/pooling.h"

#include <gtest/gtest.h>

#include <string>

#include "firn/nn/conv.h"
#include "firn/nn/fold.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

TEST(PoolingTest, MaximaGoBackToTheirPlaces) {
  const Tensor x = Randn({2, 3, 4, 6});
  MaxPool2d pool({.kernel = 2});
  MaxUnpool2d unpool({.kernel = 2});
  const ValuesAndIndices maxima = pool.WithIndices(x);
  EXPECT_TRUE(maxima.values.Equals(pool(x)));
  const Tensor y = unpool(maxima.values, maxima.indices);
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(pool(y.Abs()).Equals(maxima.values.Abs()));
}

TEST(PoolingTest, StridesAreOneNumberOrOneADimensionAndElseTheKernel) {
  EXPECT_EQ(MaxPool2d({.kernel = 3, .stride = {1, 2}}).ToString(),
            "MaxPool2d(kernel=3, stride=[1, 2])");
  EXPECT_EQ(AvgPool3d({.kernel = 3, .stride = {1, 2, 3}}).ToString(),
            "AvgPool3d(kernel=3, stride=[1, 2, 3])");
  EXPECT_EQ(LpPool2d({.p = 3, .kernel = 3, .stride = {1, 2}}).ToString(),
            "LpPool2d(p=3, kernel=3, stride=[1, 2])");
  EXPECT_EQ(MaxUnpool2d({.kernel = 3, .stride = {1, 2}}).ToString(),
            "MaxUnpool2d(kernel=3, stride=[1, 2])");
  EXPECT_EQ(MaxPool2d({.kernel = 3, .stride = 2}).ToString(), "MaxPool2d(kernel=3, stride=2)");
  EXPECT_EQ(MaxPool2d({.kernel = 3}).ToString(), "MaxPool2d(kernel=3)");
  EXPECT_EQ(MaxPool2d({.kernel = 3, .stride = {1, 2}})(Randn({1, 7, 9})).shape(), Shape({1, 5, 4}));
}

TEST(PoolingTest, LayersPrintWhatDiffersFromTheDefaults) {
  EXPECT_EQ(MaxPool1d({.kernel = 3}).ToString(), "MaxPool1d(kernel=3)");
  EXPECT_EQ(MaxPool3d({.kernel = {1, 2, 2}, .padding = {0, 1, 1}}).ToString(),
            "MaxPool3d(kernel=[1, 2, 2], padding=[0, 1, 1])");
  EXPECT_EQ(AvgPool3d({.kernel = 2, .divisor_override = 3}).ToString(),
            "AvgPool3d(kernel=2, divisor_override=3)");
  EXPECT_EQ(AdaptiveMaxPool1d({.output_size = 4}).ToString(), "AdaptiveMaxPool1d(output_size=4)");
  EXPECT_EQ(MaxUnpool2d({.kernel = 2, .output_size = {5, 6}}).ToString(),
            "MaxUnpool2d(kernel=2, output_size=[5, 6])");
  EXPECT_EQ(Unfold({.kernel = {2, 3}, .stride = 2}).ToString(), "Unfold(kernel=[2, 3], stride=2)");
  EXPECT_EQ(Fold({.output_size = {4, 5}, .kernel = 2}).ToString(),
            "Fold(output_size=[4, 5], kernel=2)");
  EXPECT_EQ(Conv3d({.in = 2, .out = 3, .kernel = {1, 2, 2}, .padding = 1}).ToString(),
            "Conv3d(2 -> 3, kernel=[1, 2, 2], padding=1)");
  EXPECT_EQ(ConvTranspose1d({.in = 2, .out = 3, .kernel = 2, .stride = 2}).ToString(),
            "ConvTranspose1d(2 -> 3, kernel=2, stride=2)");
}

TEST(ConvolutionTest, DeferredChannelsComeFromAnImageWithoutABatch) {
  Conv2d conv({.out = 4, .kernel = 3});
  EXPECT_EQ(conv(Randn({2, 5, 5})).shape(), Shape({4, 3, 3}));
  EXPECT_EQ(conv.weight().shape(), Shape({4, 2, 3, 3}));
  EXPECT_EQ(conv(Randn({3, 2, 5, 5})).shape(), Shape({3, 4, 3, 3}));
}

// Where they are made, not where they are called.
TEST(PoolingTest, RefusesWindowsThatFitNoImage) {
  EXPECT_EQ(testing::ErrorOf([] { MaxPool2d({.kernel = 0}); }),
            "nn::MaxPool2d: kernel 0 (want 1 to 16777216)");
  EXPECT_EQ(testing::ErrorOf([] { MaxPool1d({.kernel = 3, .dilation = -1}); }),
            "nn::MaxPool1d: dilation -1 (want 1 to 16777216)");
  EXPECT_EQ(testing::ErrorOf([] {
              AvgPool2d({.kernel = {2, 4}, .padding = {1, 3}});
            }),
            "nn::AvgPool2d: padding width 3 (want 0 to half the kernel, 2)");
  EXPECT_EQ(testing::ErrorOf([] {
              AvgPool3d({.kernel = {2, 2}, .stride = {1, 1, 1}});
            }),
            "nn::AvgPool3d: kernel (2, 2) has 2 numbers (want 1 or 3)");
  EXPECT_EQ(testing::ErrorOf([] { AvgPool1d({.divisor_override = -1}); }),
            "nn::AvgPool1d: divisor_override -1 (want >= 0)");
  EXPECT_EQ(testing::ErrorOf([] { LpPool1d({.p = 0}); }),
            "nn::LpPool1d: p is 0 (want a positive number)");
  EXPECT_EQ(testing::ErrorOf([] {
              LpPool1d({.kernel = {2, 2}});
            }),
            "nn::LpPool1d: kernel (2, 2) has 2 numbers (want 1)");
  EXPECT_EQ(testing::ErrorOf([] {
              AdaptiveAvgPool2d({.output_size = {1, 0}});
            }),
            "nn::AdaptiveAvgPool2d: output_size (1, 0) (want 1 to 16777216)");
}

TEST(ConvolutionTest, RefusesSizesOfOtherCounts) {
  EXPECT_EQ(testing::ErrorOf([] {
              Conv1d({.in = 1, .out = 1, .kernel = {3, 3}});
            }),
            "nn::Conv1d: kernel (3, 3) has 2 numbers (want 1)");
  EXPECT_EQ(testing::ErrorOf([] {
              ConvTranspose3d({.in = 1, .out = 1, .kernel = 3, .output_padding = {0, 0}});
            }),
            "nn::ConvTranspose3d: output_padding (0, 0) has 2 numbers (want 1 or 3)");
}

}  // namespace
}  // namespace firn::nn
