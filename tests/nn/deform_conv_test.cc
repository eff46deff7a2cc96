// What the golden cases of DeformConv2d do not test: calls without a mask, hooks, sizes that the
// first input tells, first values and errors.

#include "firn/nn/deform_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/nn/clone.h"
#include "firn/nn/conv.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

TEST(DeformConv2dTest, WithoutOffsetsItIsAConvolution) {
  DeformConv2d deform({.in = 4, .out = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2});
  Conv2d conv({.in = 4, .out = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2});
  conv.LoadStateDict(deform.state_dict());
  const Tensor x = Randn({2, 4, 7, 6}), offset = Zeros({2, 2 * 18, 4, 3});
  const Tensor want = conv(x);
  EXPECT_LT(Max(Abs(Sub(deform(x, offset), want))).Item<float>(), 1e-4f);
  // A mask of 1/2 halves all but the bias.
  const Tensor bias = Reshape(deform.bias(), {1, 6, 1, 1});
  const Tensor half = Add(Mul(Sub(want, bias), 0.5), bias);
  const Tensor mask = Full({2, 2 * 9, 4, 3}, 0.5);
  EXPECT_LT(Max(Abs(Sub(deform(x, offset, mask), half))).Item<float>(), 1e-4f);
}

TEST(DeformConv2dTest, HooksSeeThreeInputsOfWhichTheMaskMayBeUndefined) {
  DeformConv2d deform({.in = 1, .out = 1, .kernel = 1});
  std::vector<bool> masks;
  const HookHandle hook = deform.RegisterForwardPreHook([&](Module&, absl::Span<Tensor> inputs) {
    ASSERT_EQ(inputs.size(), 3u);
    EXPECT_TRUE(inputs[0].defined() && inputs[1].defined());
    masks.push_back(inputs[2].defined());
  });
  const Tensor x = Ones({1, 1, 2, 2}), offset = Zeros({1, 2, 2, 2});
  deform(x, offset);
  deform(x, offset, Ones({1, 1, 2, 2}));
  EXPECT_EQ(masks, std::vector<bool>({false, true}));
}

TEST(DeformConv2dTest, FindsItsChannelsFromTheFirstInput) {
  DeformConv2d deform({.out = 4, .kernel = {1, 2}, .groups = 2, .bias = false});
  EXPECT_EQ(deform.Describe(), "? -> 4, kernel=[1, 2], groups=2, bias=false");
  deform(Randn({1, 6, 3, 3}), Zeros({1, 4, 3, 2}));
  EXPECT_EQ(deform.weight().shape(), Shape({4, 3, 1, 2}));
  EXPECT_FALSE(deform.bias().defined());
  EXPECT_EQ(deform.ToString(), "DeformConv2d(6 -> 4, kernel=[1, 2], groups=2, bias=false)");
  EXPECT_EQ(Clone(deform)->weight().shape(), Shape({4, 3, 1, 2}));
}

TEST(DeformConv2dTest, StartsWithinOneOverTheRootOfItsFanIn) {
  const DeformConv2d deform({.in = 8, .out = 64, .kernel = 5});
  const double bound = 1 / std::sqrt(8 * 25.0);
  for (const Tensor& t : {deform.weight(), deform.bias()}) {
    const double largest = Max(Abs(t)).Item<float>();
    EXPECT_LE(largest, bound * (1 + 1e-6));
    EXPECT_GT(largest, 0.8 * bound);
  }
}

TEST(DeformConv2dTest, SaysWhatDoesNotFit) {
  const auto error = [](const DeformConv2dOptions& o) {
    return ErrorOf([&] { DeformConv2d layer(o); });
  };
  EXPECT_EQ(error({.in = 2}), "nn::DeformConv2d: out is 0 (want a positive number)");
  EXPECT_NE(error({.in = 3, .out = 4, .groups = 2}).find("nn::DeformConv2d: groups"),
            std::string::npos);
  EXPECT_NE(error({.in = 2, .out = 2, .stride = 0}).find("nn::DeformConv2d: stride"),
            std::string::npos);
  EXPECT_NE(error({.in = 2, .out = 2, .kernel = {1, 1, 1}}).find("nn::DeformConv2d: kernel"),
            std::string::npos);
  DeformConv2d deform({.in = 1, .out = 1, .kernel = 2});
  EXPECT_NE(ErrorOf([&] {
              deform(Ones({1, 1, 3, 3}), Ones({1, 8, 3, 3}));
            }).find("offset"),
            std::string::npos);
}

}  // namespace
}  // namespace firn::nn
