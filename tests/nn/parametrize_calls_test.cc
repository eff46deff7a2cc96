// Which calls compute parametrized parameters, and which find them computed.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/multi_head_attention.h"
#include "firn/nn/parametrizations.h"
#include "firn/nn/parametrize.h"
#include "firn/nn/recurrent.h"
#include "firn/nn/static_module.h"
#include "firn/nn/summary.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

using testing::ErrorOf;

TEST(ParametrizeCallsTest, AFrozenTrainingStepDoesWhatTheStepDoes) {
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

TEST(ParametrizeCallsTest, AStaticModuleSeesOriginalsAsTheyAre) {
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
  // The graph would not see a change of a value that is held.
  {
    const Held held(net);
    fast(X());
    EXPECT_EQ(fast.misses(), 2);
  }
  Original(net, "0") *= 3;
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
}

TEST(ParametrizeCallsTest, AStaticModuleNoticesThatItIsParametrized) {
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

// This module is no Layer, and no Layer calls it.
struct Plain : Module {
  Tensor& scale = AddParameter("scale", FromVector<float>({2, 3}));
  Tensor Forward(const Tensor& x) { return x * scale; }
};

struct Counting {
  std::shared_ptr<int> calls;
  Tensor Forward(const Tensor& x) const { return ++*calls, x * 2; }
};

TEST(ParametrizeCallsTest, WhatIsHeldIsComputedOnce) {
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

TEST(ParametrizeCallsTest, SeveralThreadsMayCallWhatIsHeld) {
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

TEST(ParametrizeCallsTest, HooksAndSummariesSeeTheValue) {
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

TEST(ParametrizeCallsTest, RecurrentLayersComputeForPackedSequencesToo) {
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

TEST(ParametrizeCallsTest, AttentionReadsTheParametersOfItsChild) {
  MultiHeadAttention attention({.embed = 4, .heads = 2});
  const Tensor x = Randn({3, 1, 4}), before = attention(x, x, x);
  Register(*attention.FindChild("out_proj"), "weight", WeightNorm());
  Register(attention, "in_proj_weight", Twice());
  ExpectNear(attention(x, x, x), before.ToVector<float>());
  ExpectNear(attention.Attend(x, x, x).output, before.ToVector<float>());
}

// A module that reads the weights of its child: its call is not a call of the child.
struct Reads : Module {
  Linear& fc = Add<Linear>("fc", {.in = 3, .out = 2});
  Tensor Forward(const Tensor& x) {
    const ComputedScope values = ValuesOf(fc);
    return Matmul(x, fc.weight(), false, true);
  }
};

TEST(ParametrizeCallsTest, AModuleMayReadTheParametersOfAChild) {
  Reads net;
  const Tensor before = net.Forward(X());
  Register(net.fc, "weight", WeightNorm());
  ExpectNear(net.Forward(X()), before.ToVector<float>());
  EXPECT_TRUE(IsPending(net.fc.weight()));
}

// A module that takes its size from the first input, and is no Layer.
struct Late : Module {
  Tensor& scale = AddPendingParameter("scale", {kDeferred});
  Tensor Forward(const Tensor& x) {
    InitPending(scale, {x.size(-1)}, init::Constant(3));
    return x * scale;
  }
};

TEST(ParametrizeCallsTest, WhatStandsInForAValueIsNotFilled) {
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

}  // namespace
}  // namespace firn::nn::parametrize
