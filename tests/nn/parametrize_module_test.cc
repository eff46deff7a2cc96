// That everything else a module does, it does with parametrized parameters too.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/nn/conv.h"
#include "firn/nn/multi_head_attention.h"
#include "firn/nn/parametrizations.h"
#include "firn/nn/parametrize.h"
#include "firn/nn/recurrent.h"
#include "firn/nn/static_module.h"
#include "firn/nn/summary.h"
#include "firn/optim/sgd.h"
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

// --- Calls that hooks do not see, and parameters of children
// --------------------------------------

TEST(ParametrizeModuleTest, RecurrentLayersComputeForPackedSequencesToo) {
  Lstm lstm({.in = 3, .hidden = 2});
  const Tensor x = Randn({4, 2, 3});
  const PackedSequence packed = PackPaddedSequence(x, {4, 3});
  const Tensor before = lstm(packed).y.data;
  Register(lstm, "weight_hh_l0", WeightNorm());
  Register(lstm, "weight_ih_l0", Twice());
  ExpectNear(lstm(packed).y.data, before.ToVector<float>());
  EXPECT_TRUE(lstm(x, {}).y.defined());
  Sum(lstm(packed).y.data).Backward();
  EXPECT_TRUE(Parameter(lstm, "parametrizations.weight_hh_l0.original0").grad().defined());
  EXPECT_TRUE(IsPending(lstm.weights()[0].w_ih));
}

TEST(ParametrizeModuleTest, AttentionReadsTheParametersOfItsChild) {
  MultiHeadAttention attention({.embed = 4, .heads = 2});
  const Tensor x = Randn({3, 1, 4}), before = attention(x, x, x);
  Register(*attention.FindChild("out_proj"), "weight", WeightNorm());
  Register(attention, "in_proj_weight", Twice());
  ExpectNear(attention(x, x, x), before.ToVector<float>());
  ExpectNear(attention.Attend(x, x, x).output, before.ToVector<float>());
}

// A module of one's own that reads them: its call is none of the child's.
struct Reads : Module {
  Linear& fc = Add<Linear>("fc", {.in = 3, .out = 2});
  Tensor Forward(const Tensor& x) {
    const ComputedScope values = ValuesOf(fc);
    return Matmul(x, fc.weight(), false, true);
  }
};

TEST(ParametrizeModuleTest, AModuleMayReadTheParametersOfAChild) {
  Reads net;
  const Tensor before = net.Forward(X());
  Register(net.fc, "weight", WeightNorm());
  ExpectNear(net.Forward(X()), before.ToVector<float>());
  EXPECT_TRUE(IsPending(net.fc.weight()));
}

// Which takes its size from the first input, and is no Layer.
struct Late : Module {
  Tensor& scale = AddPendingParameter("scale", {kDeferred});
  Tensor Forward(const Tensor& x) {
    InitPending(scale, {x.size(-1)}, init::Constant(3));
    return x * scale;
  }
};

TEST(ParametrizeModuleTest, WhatStandsInForAValueIsNotFilled) {
  Late late;
  EXPECT_NE(ErrorOf([&] { Register(late, "scale", Twice()); }).find("no size yet"),
            std::string::npos);
  late.Forward(Ones({2}));
  Register(late, "scale", Twice());
  EXPECT_NE(ErrorOf([&] { late.Forward(Ones({2})); }).find("parametrize::Held"), std::string::npos);
  EXPECT_TRUE(IsPending(late.scale));
  const Held held(late);
  EXPECT_EQ(late.Forward(Ones({2})).ToVector<float>(), (Values{3, 3}));
}

// --- Sizes, sharing, optimizers
// -------------------------------------------------------------------

TEST(ParametrizeModuleTest, ASizeFoundByTheFirstInputStaysKnown) {
  struct Deferred : Module {
    Linear& fc = Add<Linear>("fc", {.out = 2});
    Conv2d& conv = Add<Conv2d>("conv", {.out = 2, .kernel = 1});
  } net;
  net.fc(X());
  net.conv(Ones({1, 3, 2, 2}));
  const std::string fc = net.fc.Describe(), conv = net.conv.Describe();
  EXPECT_EQ(fc.substr(0, 6), "3 -> 2");
  Register(net.fc, "weight", WeightNorm());
  Register(net.conv, "weight", SpectralNorm());
  EXPECT_EQ(net.fc.Describe(), fc);
  EXPECT_EQ(net.conv.Describe(), conv);
  const std::unique_ptr<Deferred> copy = Clone(net);
  EXPECT_EQ(copy->ToString(), net.ToString());
  EXPECT_TRUE(copy->fc(X()).Equals(net.fc(X())));
}

TEST(ParametrizeModuleTest, AParameterOfTwoModulesStaysTheOriginalInTheOther) {
  struct Tied : Module {
    Linear& a = Add<Linear>("a", {.in = 3, .out = 3, .bias = false});
    Linear& b = Add<Linear>("b", {.in = 3, .out = 3, .bias = false});
    Tied() { ShareParameter("b.weight", a.weight()); }
  } net;
  Register(net.a, "weight", Twice());
  EXPECT_EQ(Names(net), (List{"a.parametrizations.weight.original", "b.weight"}));
  EXPECT_EQ(net.parameters().size(), 1u);
  EXPECT_TRUE(net.parameters()[0].Is(net.b.weight()));
  ExpectNear(net.a(X()), (net.b(X()) * 2).ToVector<float>());
  const std::unique_ptr<Tied> copy = Clone(net);
  EXPECT_EQ(copy->parameters().size(), 1u);
  ExpectNear(copy->a(X()), (copy->b(X()) * 2).ToVector<float>());
  // A stand-in is no parameter that another module could have.
  EXPECT_NE(ErrorOf([&] { net.ShareParameter("b.weight", net.a.weight()); }).find("parametrized"),
            std::string::npos);
  Register(net.b, "weight", Twice());
  ExpectNear(net.a(X()), net.b(X()).ToVector<float>());
  RemoveParametrizations(net.a, "weight", false);
  EXPECT_TRUE(net.a.weight().Is(net.parameters()[0]));
  EXPECT_EQ(Names(net), (List{"a.weight", "b.parametrizations.weight.original"}));
}

TEST(ParametrizeModuleTest, AnOptimizerGoesOnWithOneOriginal) {
  Net net, same;
  const auto make = [](Net& n) {
    return std::make_unique<optim::Sgd>(n.parameters(),
                                        optim::SgdOptions{.lr = 0.1, .momentum = 0.9});
  };
  const auto step = [](Net& n, optim::Optimizer& o) {
    o.ZeroGrad();
    Sum(Square(n.Forward(X()))).Backward();
    o.Step();
  };
  const auto before = make(net);
  step(net, *before);
  Register(net.fc, "weight", SpectralNorm());
  const Values weight = Original(net).ToVector<float>();
  step(net, *before);
  EXPECT_NE(Original(net).ToVector<float>(), weight);

  // Of several it has none, says so, and takes them as a group.
  auto old = make(same);
  const Tensor given_up = same.fc.weight();
  Register(same.fc, "weight", WeightNorm());
  const Values direction = Original(same, "1").ToVector<float>();
  ::testing::internal::CaptureStderr();
  step(same, *old);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                "no optimizer has parameter net.fc.parametrizations.weight.original"),
            std::string::npos);
  EXPECT_EQ(Original(same, "1").ToVector<float>(), direction);
  EXPECT_EQ(given_up.ToVector<float>(), kWeight);
  old.reset();
  const auto after = make(same);
  step(same, *after);
  EXPECT_NE(Original(same, "1").ToVector<float>(), direction);
}

// torch: m.state_dict() of a Linear with weight_norm, which is loaded before and after other
// transforms have been there.
TEST(ParametrizeModuleTest, AStateDictOfPyTorchIsLoaded) {
  StateDict state;
  state.Insert("fc.bias", FromVector<float>({1, -1}));
  state.Insert("fc.parametrizations.weight.original0", FromVector<float>({2, 4}, {2, 1}));
  state.Insert("fc.parametrizations.weight.original1",
               FromVector<float>({3, 0, 4, 0, -1, 0}, {2, 3}));
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.LoadStateDict(state);
  ExpectNear(Value(net.fc, "weight"), {1.2f, 0, 1.6f, 0, -4, 0});
  RemoveParametrizations(net.fc, "weight");
  EXPECT_NE(ErrorOf([&] { net.LoadStateDict(state); }).find("original0"), std::string::npos);
  EXPECT_NE(net.fc.weight().ToVector<float>()[0], 0);
}

TEST(ParametrizeModuleTest, AStaticModuleNoticesThatItIsParametrized) {
  Net net;
  net.Eval();
  StaticModule fast(net.fc);
  const NoGradScope no_grad;
  fast(X());
  Register(net.fc, "weight", Twice());
  Set(Original(net), Values(6, 1.f));
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
  ExpectNear(fast(X()), {4.1f, 3.8f, -1.4f, -1.7f});
  RemoveParametrizations(net.fc, "weight", false);
  ExpectNear(fast(X()), {2.1f, 1.8f, -0.65f, -0.95f});
}

}  // namespace
}  // namespace firn::nn::parametrize
