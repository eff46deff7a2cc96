// That everything else a module does, it does with parametrized parameters too.

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/nn/parametrizations.h"
#include "firn/nn/parametrize.h"
#include "firn/nn/static_module.h"
#include "firn/nn/summary.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

using testing::ErrorOf;

TEST(ParametrizeModuleTest, ACopyComputesItsOwn) {
  Net net;
  Register(net.fc, "weight", SpectralNorm{.iterations = 2});
  Register(net.fc, "bias", WeightNorm());
  const std::unique_ptr<Net> copy = Clone(net);
  EXPECT_EQ(Names(*copy), Names(net));
  EXPECT_EQ(copy->ToString(), net.ToString());
  EXPECT_FALSE(Original(*copy).Is(Original(net)));
  EXPECT_TRUE(copy->fc(X()).Equals(net.fc(X())));
  net.Eval();
  const Tensor before = net.fc(X());
  Set(Original(*copy), {1, 2, 3, 4, 5, 6});
  Step(*copy, X());
  EXPECT_TRUE(net.fc(X()).Equals(before));
  EXPECT_FALSE(copy->fc(X()).Equals(before));
  RemoveParametrizations(copy->fc, "weight");
  EXPECT_EQ(Names(*copy).front(), "fc.weight");
}

// Whose constructor registers, so that a copy has what is to be copied already.
struct Ready : Net {
  Ready() { Register(fc, "weight", WeightNorm()); }
};

TEST(ParametrizeModuleTest, ACopyOfWhatIsParametrizedByItsConstructor) {
  Ready net;
  Set(Original(net, "0"), {1, 2});
  const std::unique_ptr<Ready> copy = Clone(net);
  EXPECT_EQ(Names(*copy), Names(net));
  EXPECT_TRUE(copy->fc(X()).Equals(net.fc(X())));
  Set(Original(*copy, "0"), {2, 4});
  EXPECT_FALSE(copy->fc(X()).Equals(net.fc(X())));
}

TEST(ParametrizeModuleTest, ConversionsReachOriginalsAndBuffers) {
  Net net;
  Register(net.fc, "weight", SpectralNorm());
  net.Eval();
  const Values before = net.fc(X()).ToVector<float>();
  net.To(DType::kF64);
  EXPECT_EQ(net.fc.weight().dtype(), DType::kF64);
  EXPECT_EQ(Buffer(net, "_u").dtype(), DType::kF64);
  const Tensor y = net.fc(X().To(DType::kF64));
  EXPECT_EQ(y.dtype(), DType::kF64);
  ExpectNear(y, before);
}

TEST(ParametrizeModuleTest, AFrozenTrainingStepDoesWhatTheStepDoes) {
  Net net, same;
  const auto prepare = [](Net& n) {
    Register(n.fc, "weight", SpectralNorm());
    Set(Buffer(n, "_u"), {0.6f, 0.8f});
    Set(Buffer(n, "_v"), {0, 0.6f, -0.8f});
    Register(n.fc, "bias", WeightNorm());
  };
  prepare(net), prepare(same);
  StaticGraph step = Freeze([&](const Tensor& x) { return Step(net, x); }, X());
  ExpectNear(step.TakeFirst(), Step(same, X()).ToVector<float>());
  for (int i = 0; i < 3; ++i) {
    const Tensor x = X() * (0.5 + i);
    ExpectNear(step(x), Step(same, x).ToVector<float>());
  }
  ExpectNear(Original(net), Original(same).ToVector<float>());
  ExpectNear(Buffer(net, "_u"), Buffer(same, "_u").ToVector<float>());
  EXPECT_TRUE(IsPending(net.fc.weight()));
}

TEST(ParametrizeModuleTest, AStaticModuleSeesOriginalsAsTheyAre) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.Eval();
  StaticModule fast(net.fc);
  const NoGradScope no_grad;
  fast(X());
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
  Original(net, "0") *= 3;
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
  EXPECT_EQ(fast.misses(), 1);
  // A value that is held is what that graph would not see change.
  {
    const Held held(net);
    fast(X());
    EXPECT_EQ(fast.misses(), 2);
  }
  Original(net, "0") *= 3;
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
}

// Neither a Layer nor called by one.
struct Plain : Module {
  Tensor& scale = AddParameter("scale", FromVector<float>({2, 3}));
  Tensor Forward(const Tensor& x) { return x * scale; }
};

struct Twice {
  Tensor Forward(const Tensor& x) const { return x * 2; }
  Tensor RightInverse(const Tensor& w) const { return w / 2; }
};

struct Counting {
  std::shared_ptr<int> calls;
  Tensor Forward(const Tensor& x) const { return ++*calls, x * 2; }
};

TEST(ParametrizeModuleTest, WhatIsHeldIsComputedOnce) {
  Net net;
  const auto calls = std::make_shared<int>(0);
  Register(net.fc, "weight", Counting{calls});
  *calls = 0;
  {
    const Held held(net);
    net.fc(X());
    const Tensor y = net.fc(X());
    EXPECT_EQ(*calls, 1);
    Sum(y).Backward();
    EXPECT_TRUE(Original(net).grad().defined());
    EXPECT_EQ(ErrorOf([&] { RemoveParametrizations(net.fc, "weight"); }),
              "parametrize::RemoveParametrizations at net.fc: a call of the module is running, or a"
              " Held lives; do it before");
    EXPECT_TRUE(Value(net.fc, "weight").Is(net.fc.weight()));
  }
  net.fc(X());
  EXPECT_EQ(*calls, 2);

  Plain plain;
  Register(plain, "scale", Twice());
  EXPECT_NE(ErrorOf([&] { plain.Forward(Ones({2})); }).find("parametrize::Held"),
            std::string::npos);
  const Held held(plain);
  EXPECT_EQ(plain.Forward(Ones({2})).ToVector<float>(), (Values{2, 3}));
}

TEST(ParametrizeModuleTest, SeveralThreadsMayCallWhatIsHeld) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.Eval();
  const NoGradScope no_grad;
  const Values want = net.fc(X()).ToVector<float>();
  const Held held(net);
  std::vector<Values> got(4);
  std::vector<std::thread> threads;
  for (Values& g : got) {
    threads.emplace_back([&] {
      const NoGradScope here;
      for (int i = 0; i < 50; ++i) g = net.fc(X()).ToVector<float>();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Values& g : got) EXPECT_EQ(g, want);
}

TEST(ParametrizeModuleTest, HooksAndSummariesSeeTheValue) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  Tensor before, after;
  const HookHandle pre = net.fc.RegisterForwardPreHook(
      [&](Module&, absl::Span<Tensor>) { before = Neg(net.fc.weight()); });
  const HookHandle post = net.fc.RegisterForwardHook(
      [&](Module&, absl::Span<const Tensor>, Tensor&) { after = Neg(net.fc.weight()); });
  net.fc(X());
  EXPECT_TRUE(before.defined() && after.Equals(before));
  EXPECT_NE(Summary(net.fc, {1, 3}).ToString().find("Linear"), std::string::npos);
}

TEST(ParametrizeModuleTest, FrozenParametersStayFrozen) {
  Net net;
  net.SetTrainable(false);
  Register(net.fc, "weight", WeightNorm());
  EXPECT_FALSE(Original(net, "0").requires_grad());
  EXPECT_FALSE(net.fc(X()).requires_grad());
  net.SetTrainable();
  EXPECT_TRUE(net.fc(X()).requires_grad());
}

}  // namespace
}  // namespace firn::nn::parametrize
