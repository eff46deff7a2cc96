#include "firn/autograd/hooks.h"

#include <stdexcept>

#include "firn/autograd/backward.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::ExpectContains;
using testing::Floats;
using testing::Leaf;

TEST(HooksTest, SeesTheSummedGradientOfAComputedTensorOnce) {
  Tensor x = Leaf({1, 2});
  Tensor y = Mul(x, 3);
  std::vector<Floats> seen;
  RegisterHook(y, [&](const Tensor& g) {
    seen.push_back(g.ToVector<float>());
    return Tensor();
  });
  Sum(Add(Mul(y, 2), y)).Backward();
  EXPECT_EQ(seen, (std::vector<Floats>{{3, 3}}));
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{9, 9}));
}

TEST(HooksTest, PassesOnWhatAHookReturns) {
  Tensor x = Leaf({1, 2});
  Tensor y = Mul(x, 3);
  RegisterHook(y, [](const Tensor& g) { return Mul(g, 10); });
  RegisterHook(y, [](const Tensor& g) { return Add(g, 1); });
  Sum(y).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{33, 33}));
}

TEST(HooksTest, ChangesWhatIsAddedToALeaf) {
  Tensor x = Leaf({1, 2});
  RegisterHook(x, [](const Tensor& g) { return Mul(g, -1); });
  Sum(Mul(x, 3)).Backward();
  Sum(Mul(x, 3)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{-6, -6}));
}

TEST(HooksTest, RunsInGradToo) {
  Tensor x = Leaf({1, 2});
  RegisterHook(x, [](const Tensor& g) { return Mul(g, 5); });
  EXPECT_EQ(Grad(Sum(Mul(x, 3)), x).ToVector<float>(), (Floats{15, 15}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(HooksTest, StopsWhenRemoved) {
  Tensor x = Leaf({1});
  int calls = 0;
  HookHandle handle = RegisterHook(x, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  Sum(x).Backward();
  handle.Remove();
  handle.Remove();
  Sum(x).Backward();
  EXPECT_EQ(calls, 1);
}

TEST(HooksTest, LeavesGradientsAloneWhenAHookThrows) {
  Tensor x = Leaf({1, 2}), w = Leaf({3, 4});
  Sum(Mul(x, w)).Backward();
  Tensor y = Mul(x, w).RetainGrad();
  HookHandle handle =
      RegisterHook(x, [](const Tensor&) -> Tensor { throw std::runtime_error("not today"); });
  EXPECT_THROW(Sum(y).Backward(), std::runtime_error);
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{3, 4}));
  EXPECT_EQ(w.grad().ToVector<float>(), (Floats{1, 2}));
  EXPECT_FALSE(y.grad().defined());
}

TEST(HooksTest, AllowsAHookToAddAndRemoveHooks) {
  Tensor x = Leaf({1});
  Tensor y = Mul(x, 2);
  HookHandle self;
  self = RegisterHook(y, [&](const Tensor&) {
    self.Remove();
    for (int i = 0; i < 100; ++i) RegisterHook(y, [](const Tensor& g) { return g; });
    return Tensor();
  });
  Sum(y).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{2}));
}

// While gradients wait for the product, a hook differentiates through it.
TEST(HooksTest, MayDifferentiateWhatTheSweepAroundItWaitsFor) {
  Tensor x = Leaf({1, 2});
  const Tensor product = Mul(x, 3), total = Sum(product);
  const Tensor y = Mul(product, 5);
  Floats inner;
  RegisterHook(y, [&](const Tensor&) {
    inner = Grad(total, x, {.retain_graph = true}).ToVector<float>();
    return Tensor();
  });
  const Tensor z = Mul(product, 7);  // comes before y in the sweep
  Sum(Add(y, z)).Backward();
  EXPECT_EQ(inner, (Floats{3, 3}));
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{36, 36}));
}

// A failed sweep forgets the gradients that were waiting.
TEST(HooksTest, LetsASweepThatFailedBeRepeated) {
  Tensor x = Leaf({1, 2});
  const Tensor product = Mul(x, 3);
  const Tensor y = Mul(product, 5);
  HookHandle handle =
      RegisterHook(y, [](const Tensor&) -> Tensor { throw std::runtime_error("not today"); });
  const Tensor z = Mul(product, 7);
  const Tensor loss = Sum(Add(y, z));
  EXPECT_THROW(loss.Backward({}, true), std::runtime_error);
  handle.Remove();
  loss.Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{36, 36}));
}

TEST(HooksTest, RefusesAGradientOfAnotherShape) {
  Tensor x = Leaf({1, 2});
  RegisterHook(x, [](const Tensor& g) { return Sum(g); });
  ExpectContains(ErrorOf([&] { Sum(x).Backward(); }),
                 "a hook returned f32 [] on cpu for the gradient f32 [2] on cpu");
  EXPECT_FALSE(x.grad().defined());
}

TEST(HooksTest, RefusesATensorWithoutGradient) {
  EXPECT_THROW(RegisterHook(FromValues({1.f}), [](const Tensor& g) { return g; }), Error);
  EXPECT_THROW(RegisterHook(Leaf({1}), nullptr), Error);
}

TEST(HooksTest, IsDifferentiatedThroughWithCreateGraph) {
  Tensor x = Leaf({2});
  Tensor y = Mul(x, x);
  RegisterHook(y, [&](const Tensor& g) { return Mul(g, x); });  // dy/dx becomes 2x * x
  Tensor g = Grad(Sum(y), x, {.create_graph = true});
  EXPECT_EQ(g.ToVector<float>(), (Floats{8}));
  EXPECT_EQ(Grad(Sum(g), x).ToVector<float>(), (Floats{8}));  // 4x
}

}  // namespace
}  // namespace firn
