#include "firn/nn/bilinear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "firn/nn/clone.h"
#include "firn/nn/module.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/linear/tensordot.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

TEST(BilinearTest, ComputesWhatTheFunctionDoes) {
  Bilinear layer({.in1 = 3, .in2 = 2, .out = 4});
  EXPECT_EQ(layer.weight().shape(), Shape({4, 3, 2}));
  EXPECT_EQ(layer.bias().shape(), Shape({4}));
  const Tensor x1 = Randn({5, 3}), x2 = Randn({5, 2});
  EXPECT_TRUE(layer(x1, x2).Equals(firn::Bilinear(x1, x2, layer.weight(), layer.bias())));
  EXPECT_EQ(layer.Describe(), "3, 2, out=4");
}

TEST(BilinearTest, StartsWithinOneOverTheRootOfItsFirstSize) {
  const Bilinear layer({.in1 = 100, .in2 = 3, .out = 20});
  for (const Tensor& t : {layer.weight(), layer.bias()}) {
    const float largest = Max(Abs(t)).Item<float>();
    EXPECT_LE(largest, 0.1f);
    EXPECT_GT(largest, 0.08f);
  }
}

TEST(BilinearTest, FindsItsSizesFromBothInputs) {
  for (const BilinearOptions& o : {BilinearOptions{.out = 2}, BilinearOptions{.in1 = 3, .out = 2},
                                   BilinearOptions{.in2 = 4, .out = 2, .bias = false}}) {
    Bilinear layer(o);
    EXPECT_EQ(layer(Randn({5, 3}), Randn({5, 4})).shape(), Shape({5, 2}));
    EXPECT_EQ(layer.weight().shape(), Shape({2, 3, 4}));
    EXPECT_EQ(layer.bias().defined(), o.bias);
  }
  EXPECT_NE(testing::ErrorOf([] { Bilinear({.in1 = 3, .in2 = 4}); }).find("out"),
            std::string::npos);
}

}  // namespace
}  // namespace firn::nn
