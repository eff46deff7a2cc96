// What padding layers refuse, and how they and other layers without parameters print.

#include "firn/nn/padding.h"

#include <gtest/gtest.h>

#include "firn/nn/activation.h"
#include "firn/nn/norm.h"
#include "firn/nn/prelu.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

TEST(PaddingTest, RefusesWhatIsNeitherOneNumberNorAPairForEachDimension) {
  EXPECT_EQ(testing::ErrorOf([] {
              ZeroPad2d({.padding = {1, 2}});
            }),
            "nn::ZeroPad2d: padding must have 1 number or 4, got 2");
  EXPECT_EQ(testing::ErrorOf([] { ConstantPad1d({.padding = {}}); }),
            "nn::ConstantPad1d: padding must have 1 number or 2, got 0");
}

TEST(PaddingTest, RefusesTensorsOfFewerDimensions) {
  ReflectionPad3d layer({.padding = {1}});
  const Tensor x = Ones({3, 3});
  EXPECT_EQ(
      testing::ErrorOf([&] { layer(x); }),
      "nn::ReflectionPad3d at reflection_pad3d: x must have at least 3 dimensions, got [3, 3]");
}

TEST(PaddingTest, WorksOnAnyNumberOfDimensionsBeforeThosePadded) {
  CircularPad1d layer({.padding = {1}});
  EXPECT_EQ(layer(Ones({3})).shape(), Shape({5}));
  EXPECT_EQ(layer(Ones({2, 4, 2, 3})).shape(), Shape({2, 4, 2, 5}));
}

TEST(PaddingTest, SaysHowItPads) {
  EXPECT_EQ(ConstantPad1d({.padding = {1, 2}, .value = 0.5}).Describe(),
            "padding=[1, 2], value=0.5");
  EXPECT_EQ(ZeroPad2d().Describe(), "");
}

TEST(PaddingTest, CeluRefusesWhatItWouldDivideBy) {
  EXPECT_EQ(testing::ErrorOf([] { Celu({.alpha = 0}); }), "nn::Celu: alpha must not be 0");
}

TEST(PaddingTest, OtherLayersSayWhatDiffersFromTheirDefaults) {
  EXPECT_EQ(Threshold({.threshold = 0.5, .value = 20}).Describe(), "threshold=0.5, value=20");
  EXPECT_EQ(Hardshrink().Describe(), "");
  EXPECT_EQ(Celu({.alpha = 2}).Describe(), "alpha=2");
  EXPECT_EQ(Prelu({.count = 3}).Describe(), "count=3");
  EXPECT_EQ(RmsNorm({.shape = {4}, .eps = 0.25}).Describe(), "[4], eps=0.25");
  EXPECT_EQ(RmsNorm().Describe(), "[?]");
}

}  // namespace
}  // namespace firn::nn
