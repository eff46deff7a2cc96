#include "firn/autograd/backward.h"

#include "firn/device/testing.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::ExpectContains;
using testing::Floats;
using testing::Leaf;
using testing::LiveBytes;

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
  const std::string path = "net.square";
  Tensor x = Leaf({2, 3});
  Tensor h;
  {
    PathScope scope(path);
    h = Mul(x, x);
  }
  Sum(h).Backward();
  EXPECT_EQ(
      ErrorOf([&] { Sum(h).Backward(); }),
      "backward: mul at net.square was visited by an earlier backward, which freed what it had "
      "saved; pass retain_graph to that one");
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{4, 6}));
}

TEST(BackwardTest, RunsAgainWithRetainGraph) {
  Tensor x = Leaf({2, 3});
  Tensor y = Sum(Mul(x, x));
  y.Backward({}, true);
  y.Backward({}, true);
  y.Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{12, 18}));
}

TEST(BackwardTest, RefusesASavedInputThatWasChangedInPlace) {
  const std::string path = "net.res.act";
  Tensor x = Leaf({2, 3});
  Tensor y = Mul(x, 2);
  Tensor z;
  {
    PathScope scope(path);
    z = Sum(Mul(y, y));
  }
  {
    NoGradScope no_grad;
    y.mutable_host_view<float>()[0] = 7;
  }
  EXPECT_EQ(
      ErrorOf([&] { z.Backward(); }),
      "backward: mul at net.res.act was computed from a tensor that was changed in place since "
      "(version 1, saved at 0)");
  EXPECT_FALSE(x.grad().defined());
}

// Squares, with a rule that reads the result.
const OpDef& SavesItsOutput() {
  static const OpDef* op = [] {
    auto* saving = new OpDef(Op("mul"));
    saving->saves = {Saved::Output(0)};
    saving->grad = [](GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), g.output(0))); };
    return saving;
  }();
  return *op;
}

TEST(BackwardTest, RefusesASavedOutputThatWasChangedInPlace) {
  Tensor x = Leaf({2, 3});
  Tensor y = Apply1(SavesItsOutput(), {x, x});
  Tensor z = Sum(y);
  {
    NoGradScope no_grad;
    y.mutable_host_view<float>()[0] = 7;
  }
  ExpectContains(ErrorOf([&] { z.Backward(); }), "changed in place since (version 1, saved at 0)");
}

TEST(BackwardTest, FreesANodeThatSavedItsOwnOutput) {
  const int64_t before = LiveBytes();
  {
    Tensor x = Leaf({2, 3});
    Tensor y = Apply1(SavesItsOutput(), {x, x});
    Tensor g = Grad(Sum(y), x, {.create_graph = true});
    Grad(Sum(g), x, {.retain_graph = true});
  }
  EXPECT_EQ(LiveBytes(), before);
}

TEST(BackwardTest, StartsFromSeveralRoots) {
  Tensor x = Leaf({1, 2});
  Tensor h = Mul(x, x);
  Backward({Sum(h), Sum(Mul(h, 3)), h}, {.seeds = {Tensor(), Tensor(), FromValues({10.f, 20.f})}});
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{28, 96}));
}

TEST(BackwardTest, ChecksRootsAndSeeds) {
  Tensor x = Leaf({1, 2});
  Tensor y = Mul(x, x);
  ExpectContains(ErrorOf([&] { y.Backward(); }), "the root has 2 elements; give a seed gradient");
  ExpectContains(ErrorOf([&] { y.Backward(FromValues({1.f})); }),
                 "the seed f32 [1] on cpu does not fit the root f32 [2] on cpu");
  ExpectContains(ErrorOf([&] { FromValues({1.f}).Backward(); }), "does not require a gradient");
  ExpectContains(ErrorOf([&] { Tensor().Backward(); }), "the root is an undefined tensor");
  ExpectContains(ErrorOf([&] {
                   Backward({Sum(y)}, {.seeds = {Tensor(), Tensor()}});
                 }),
                 "more seeds than roots: 2 for 1");
  EXPECT_FALSE(x.grad().defined());
}

TEST(BackwardTest, SaysWhichOfSeveralItIs) {
  const Tensor x = Leaf({1, 2});
  const Tensor y = Mul(x, x), sum = Sum(y);
  ExpectContains(ErrorOf([&] { Backward({sum, Tensor()}); }), "root 1 is an undefined tensor");
  ExpectContains(ErrorOf([&] { Backward({sum, y}); }), "root 1 has 2 elements");
  ExpectContains(ErrorOf([&] {
                   Backward({sum, Ones({1})});
                 }),
                 "root 1 does not require a gradient");
  ExpectContains(ErrorOf([&] { Grad({sum}, {x, Tensor()}); }), "input 1 is an undefined tensor");
  EXPECT_FALSE(x.grad().defined());
}

TEST(BackwardTest, AddsUpTheGradientsOfARootGivenTwice) {
  Tensor x = Leaf({3});
  Tensor y = Sum(x);
  Backward({y, y});
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{2}));
}

TEST(BackwardTest, RetainsGradientsOfComputedTensors) {
  Tensor x = Leaf({1, 2});
  Tensor h = Mul(x, 3).RetainGrad();
  Tensor y = Sum(Mul(h, h));
  y.Backward({}, true);
  EXPECT_EQ(h.grad().ToVector<float>(), (Floats{6, 12}));
  y.Backward();
  EXPECT_EQ(h.grad().ToVector<float>(), (Floats{12, 24}));
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{36, 72}));
}

TEST(BackwardTest, ChangesNoGradientWhenTheMemoryRunsOut) {
  Tensor x = Leaf({1, 2}), w = Leaf({3, 4});
  Sum(Mul(x, w)).Backward();
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    Tensor h = Mul(x, w).RetainGrad();
    const Tensor y = Sum(Mul(Add(h, x), w));
    bool failed = false;
    {
      ScopedAllocationFailure failure(n);
      failed = !ErrorOf([&] { y.Backward(); }).empty();
      if (!failure.triggered()) break;
    }
    ASSERT_TRUE(failed);
    ++failures;
    EXPECT_EQ(x.grad().ToVector<float>(), (Floats{3, 4}));
    EXPECT_EQ(w.grad().ToVector<float>(), (Floats{1, 2}));
    EXPECT_FALSE(h.grad().defined());
  }
  EXPECT_GT(failures, 3);
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{3 + 12, 4 + 20}));
}

// Counts which gradients the rule is asked for.
int wanted_x = 0, wanted_y = 0;
const OpDef& CountingMul() {
  static const OpDef* op = [] {
    auto* counting = new OpDef(Op("mul"));
    counting->grad = [](GradContext& g) {
      if (g.needs(0)) g.set_grad_input(0, Mul(g.grad_output(), g.input(1)));
      if (g.needs(1)) g.set_grad_input(1, Mul(g.grad_output(), g.input(0)));
      wanted_x += g.needs(0);
      wanted_y += g.needs(1);
    };
    return counting;
  }();
  return *op;
}

TEST(GradTest, AsksRulesOnlyForWhatIsWanted) {
  Tensor x = Leaf({2}), y = Leaf({3});
  Tensor z = Sum(Apply1(CountingMul(), {Mul(x, 1), Mul(y, 1)}));
  wanted_x = wanted_y = 0;
  EXPECT_EQ(Grad(z, x, {.retain_graph = true}).ToVector<float>(), (Floats{3}));
  EXPECT_EQ(wanted_x, 1);
  EXPECT_EQ(wanted_y, 0);
  z.Backward();
  EXPECT_EQ(wanted_y, 1);
}

TEST(GradTest, GivesGradientsOfComputedTensorsAndStopsThere) {
  Tensor x = Leaf({2});
  Tensor h = Mul(x, x);
  Tensor y = Sum(Mul(h, h));
  const std::vector<Tensor> g = Grad({y}, {h, x});
  EXPECT_EQ(g[0].ToVector<float>(), (Floats{8}));
  EXPECT_EQ(g[1].ToVector<float>(), (Floats{32}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(GradTest, GivesTheSeedForTheRootItself) {
  Tensor x = Leaf({2});
  Tensor y = Sum(Mul(x, x));
  EXPECT_EQ(Grad(y, y).ToVector<float>(), (Floats{1}));
  EXPECT_EQ(Grad(x, x).ToVector<float>(), (Floats{1}));
}

TEST(GradTest, SaysWhichInputIsUnused) {
  Tensor x = Leaf({2}), other = Leaf({1});
  const Tensor y = Sum(Mul(x, x));
  ExpectContains(ErrorOf([&] {
                   Grad({y}, {x, other}, {.retain_graph = true});
                 }),
                 "do not depend on input 1; pass allow_unused");
  EXPECT_FALSE(Grad({y}, {x, other}, {.allow_unused = true})[1].defined());
  ExpectContains(ErrorOf([&] { Grad(y, FromValues({1.f})); }),
                 "input 0 does not require a gradient");
}

TEST(GradTest, RefusesAnEmptyListAndAnUndefinedTensor) {
  Tensor x = Leaf({2});
  EXPECT_TRUE(Grad(std::vector<Tensor>{Sum(x)}, std::vector<Tensor>()).empty());
  EXPECT_THROW(Grad(Sum(x), Tensor()), Error);
  EXPECT_THROW(Grad(Tensor(), x), Error);
}

TEST(GradTest, DifferentiatesFourTimes) {
  Tensor x = Leaf({2});
  Tensor y = Mul(Mul(x, x), Mul(x, x));
  const Floats want = {32, 48, 48, 24};
  for (float w : want) {
    y = Grad(Sum(y), x, {.create_graph = true});
    EXPECT_EQ(y.ToVector<float>(), (Floats{w}));
  }
}

TEST(BackwardTest, WalksAHundredThousandNodesWithoutRecursionOrLeak) {
  const int64_t before = LiveBytes();
  {
    Tensor x = Leaf({1});
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = Add(y, x);
    Sum(y).Backward();
    EXPECT_EQ(x.grad().ToVector<float>(), (Floats{100001}));
  }
  EXPECT_EQ(LiveBytes(), before);
}

TEST(BackwardTest, DropsAHundredThousandNodesWithoutBackward) {
  const int64_t before = LiveBytes();
  {
    Tensor x = Leaf({1});
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = Mul(y, y);  // saves its inputs
  }
  EXPECT_EQ(LiveBytes(), before);
}

}  // namespace
}  // namespace firn
