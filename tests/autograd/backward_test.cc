#include "autograd/backward.h"

#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tensor/from.h"
#include "tensor/ops/add.h"
#include "tensor/ops/expand.h"
#include "tensor/ops/full.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sum.h"

namespace firn {
namespace {

Tensor Leaf(std::vector<float> values) { return FromVector(std::move(values)).SetRequiresGrad(); }

TEST(BackwardTest, GivesTheProductRule) {
  Tensor x = Leaf({1, 2, 3}), y = Leaf({4, 5, 6});
  Sum(Mul(x, y)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(y.grad().ToVector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(BackwardTest, AddsTheGradientsOfEveryUse) {
  Tensor x = Leaf({1, 2});
  Tensor y = Add(Mul(x, x), x);
  Sum(y).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{3, 5}));
}

TEST(BackwardTest, AddsToTheGradientOfTheLastPass) {
  Tensor x = Leaf({1, 2});
  Sum(Mul(x, 3)).Backward();
  Sum(Mul(x, 4)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{7, 7}));
}

TEST(BackwardTest, SumsTheGradientOfABroadcastOperand) {
  Tensor x = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3}).SetRequiresGrad();
  Tensor b = Leaf({1, 1, 1});
  Sum(Mul(x, b)).Backward();
  EXPECT_EQ(b.grad().ToVector<float>(), (std::vector<float>{5, 7, 9}));
}

TEST(BackwardTest, DifferentiatesGradients) {
  Tensor x = Leaf({2, 3});
  Tensor cube = Sum(Mul(Mul(x, x), x));
  Tensor g = Grad(cube, x, {.create_graph = true});
  EXPECT_EQ(g.ToVector<float>(), (std::vector<float>{12, 27}));
  Tensor h = Grad(Sum(g), x);
  EXPECT_EQ(h.ToVector<float>(), (std::vector<float>{12, 18}));
}

TEST(BackwardTest, RefusesASecondPassWithoutRetain) {
  Tensor x = Leaf({2, 3});
  Tensor y = Sum(Mul(x, x));
  y.Backward();
  try {
    y.Backward();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("retain_graph"), std::string::npos) << e.what();
  }
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{4, 6}));
}

TEST(BackwardTest, RefusesASavedTensorThatWasChangedInPlace) {
  Tensor x = Leaf({2, 3});
  Tensor y = Mul(x, 2);
  Tensor z = Sum(Mul(y, y));
  {
    NoGradScope no_grad;
    y.mutable_host_view<float>()[0] = 7;
  }
  EXPECT_THROW(z.Backward(), Error);
  EXPECT_FALSE(x.grad().defined());
}

TEST(BackwardTest, WalksAHundredThousandNodesWithoutRecursion) {
  Tensor x = Leaf({1});
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = Add(y, x);
  Sum(y).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{100001}));
}

}  // namespace
}  // namespace firn
