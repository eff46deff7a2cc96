// The contents of parametrized modules, and calls that change them.

#include "firn/nn/parametrize.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "firn/nn/parametrizations.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

using testing::ErrorOf;

TEST(ParametrizeTest, NamesAreThoseOfPyTorch) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  EXPECT_EQ(Names(net), (List{"fc.bias", "fc.parametrizations.weight.original0",
                              "fc.parametrizations.weight.original1"}));
  RemoveParametrizations(net.fc, "weight");
  Register(net.fc, "weight", SpectralNorm());
  EXPECT_EQ(Names(net), (List{"fc.bias", kOriginal, "fc.parametrizations.weight.0._u",
                              "fc.parametrizations.weight.0._v"}));
  EXPECT_EQ(net.ToString(),
            "Net(\n  (fc): Linear(3 -> 2\n    (parametrizations): Parametrizations(\n"
            "      (weight): ParametrizationList(\n"
            "        (0): SpectralNorm()\n      )\n    )\n  )\n)");
}

TEST(ParametrizeTest, AStateDictIsLoadedAndRefused) {
  Net from, to;
  Register(from.fc, "weight", SpectralNorm());
  Set(Original(from), {1, 2, 3, 4, 5, 6});
  EXPECT_NE(ErrorOf([&] { (void)to.LoadStateDict(from.state_dict()); }), "");
  Register(to.fc, "weight", SpectralNorm());
  from.Eval(), to.Eval();
  EXPECT_FALSE(to.fc(X()).Equals(from.fc(X())));
  EXPECT_TRUE(to.LoadStateDict(from.state_dict()).ok());
  EXPECT_TRUE(to.fc(X()).Equals(from.fc(X())));
}

TEST(ParametrizeTest, OneOriginalIsTheParameterItself) {
  Net net;
  Tensor weight = Parameter(net, "fc.weight");
  Register(net.fc, "weight", SpectralNorm());
  EXPECT_TRUE(Original(net).Is(weight));
  EXPECT_EQ(weight.ToVector<float>(), kWeight);
  EXPECT_EQ(net.parameters().size(), 2u);
  RemoveParametrizations(net.fc, "weight", false);
  EXPECT_TRUE(Parameter(net, "fc.weight").Is(weight));
  EXPECT_EQ(weight.ToVector<float>(), kWeight);
}

TEST(ParametrizeTest, BetweenCallsTheWeightHasAShapeAndRefusesItsElements) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.fc(X());
  EXPECT_EQ(net.fc.weight().shape(), (Shape{2, 3}));
  EXPECT_EQ(net.fc.weight().ToString(),
            "parameter net.fc.weight f32 [2, 3], computed by each call of its module");
  const std::string refused =
      "parameter net.fc.weight is parametrized: it has elements while its module is called, or a"
      " parametrize::Held lives; parametrize::Value computes it";
  EXPECT_EQ(ErrorOf([&] { Neg(net.fc.weight()); }), "neg: " + refused);
  EXPECT_EQ(ErrorOf([&] { (void)net.fc.weight().ToVector<float>(); }), "to_vector: " + refused);
  ExpectNear(Value(net.fc, "weight"), kWeight);
  EXPECT_TRUE(Value(net.fc, "bias").Is(net.fc.bias()));
}

TEST(ParametrizeTest, RemovalLeavesTheValueOrTheOriginal) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  EXPECT_EQ(ErrorOf([&] { RemoveParametrizations(net.fc, "weight", false); }),
            "parametrize::RemoveParametrizations: weight of net.fc has 2 originals, so it can only"
            " stay parametrized");
  EXPECT_TRUE(IsParametrized(net.fc, "weight"));
  {
    const NoGradScope no_grad;
    Original(net, "0") *= 2;
  }
  RemoveParametrizations(net.fc, "weight");
  EXPECT_FALSE(IsParametrized(net.fc));
  EXPECT_EQ(Names(net), (List{"fc.weight", "fc.bias"}));
  Values twice = kWeight;
  for (float& w : twice) w *= 2;
  ExpectNear(net.fc.weight(), twice);
  EXPECT_TRUE(net.fc.weight().requires_grad());
  Step(net, X());
  EXPECT_TRUE(net.fc.weight().grad().defined());

  // With two parametrized tensors, removing one leaves the other, and vectors do not move.
  Register(net.fc, "weight", SpectralNorm());
  Register(net.fc, "bias", WeightNorm());
  const Tensor weight = Original(net), u = Buffer(net, "_u").Clone();
  net.Eval();
  const Tensor y = net.fc(X());
  net.Train();
  RemoveParametrizations(net.fc, "weight");
  EXPECT_TRUE(IsParametrized(net.fc, "bias"));
  EXPECT_TRUE(net.fc.weight().Is(weight));
  ExpectNear(net.fc(X()), y.ToVector<float>());
}

TEST(ParametrizeTest, SetValueStoresWhatMakesIt) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  const Tensor length = Original(net, "0");
  SetValue(net.fc, "weight", FromVector<float>({3, 4, 0, 0, 6, 8}, {2, 3}));
  ExpectNear(length, {5, 10});
  ExpectNear(Value(net.fc, "weight"), {3, 4, 0, 0, 6, 8});
  EXPECT_EQ(ErrorOf([&] {
              SetValue(net.fc, "weight", Ones({3, 2}));
            }),
            "parametrize::SetValue: value must be f32 [2, 3] on cpu, got f32 [3, 2] on cpu");
  Register(net.fc, "bias", SpectralNorm());
  EXPECT_EQ(ErrorOf([&] { SetValue(net.fc, "bias", Ones({2})); }),
            "parametrize::SetValue: SpectralNorm has no RightInverse");
}

// --- One's own ----------------------------------------------------------------------------------

struct Scaled {
  double by = 1;
  Tensor Forward(const Tensor& x) const { return x * by; }
  Tensor RightInverse(const Tensor& w) const { return w / by; }
};
struct Turned {  // of another shape
  Tensor Forward(const Tensor& x) const { return x.T(); }
  Tensor RightInverse(const Tensor& w) const { return w.T(); }
};
struct Wrong {
  Tensor Forward(const Tensor& x) const { return x.T(); }
};
struct Fails {
  std::shared_ptr<bool> on;
  Tensor Forward(const Tensor& x) const { return *on ? Reshape(x, {7}) : x; }
};

// A buffer that counts in training, and one that is asked for and not there.
struct Drifts {
  int64_t asks = 0;
  Tensor Forward(const Tensor& x, const State& state) const {
    if (state.training()) Tensor(state.buffer(0)) += 1;
    return x + state.buffer(static_cast<size_t>(asks));
  }
  std::vector<NamedTensor> Buffers(const Tensor& weight) const {
    return {{"drift", Zeros({}, weight.dtype())}};
  }
};

TEST(ParametrizeTest, AParametrizationHasBuffersAndTheModulesMode) {
  Net net;
  Register(net.fc, "weight", Drifts());
  EXPECT_EQ(Value(net.fc, "weight").ToVector<float>()[0], 1.5f);
  net.fc(X());
  EXPECT_EQ(Buffer(net, "drift").Item(), 2);
  net.Eval();
  EXPECT_EQ(Value(net.fc, "weight").ToVector<float>()[0], 2.5f);
  Register(net.fc, "bias", Drifts());  // in the mode that the layer is in
  EXPECT_EQ(Value(net.fc, "bias").ToVector<float>()[0], 0.1f);
  Net other;
  EXPECT_EQ(ErrorOf([&] { Register(other.fc, "weight", Drifts{.asks = 1}); }),
            "drifts: there is no buffer 1, only 1");
  EXPECT_EQ(other.fc.num_children(), 0u);
}

TEST(ParametrizeTest, ParametrizationsFollowEachOther) {
  Net net;
  const Tensor weight = Parameter(net, "fc.weight"), before = net.fc(X());
  Register(net.fc, "weight", Scaled{4});
  EXPECT_TRUE(Original(net).Is(weight));
  EXPECT_EQ(weight.ToVector<float>()[0], 0.125f);
  EXPECT_TRUE(net.fc(X()).Equals(before));
  Register(net.fc, "weight", Scaled{2});
  EXPECT_EQ(Value(net.fc, "weight").ToVector<float>()[0], 1.f);
  SetValue(net.fc, "weight", Full({2, 3}, 16));
  EXPECT_EQ(weight.ToVector<float>(), Values(6, 2.f));
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "weight", WeightNorm()); }),
            "parametrize::Register: WeightNorm computes from 2 tensors, and what is parametrized"
            " already is one");
  EXPECT_EQ(net.fc.num_children(), 1u);
}

TEST(ParametrizeTest, AnOriginalMayHaveAnotherShape) {
  Net net;
  const Tensor before = net.fc(X());
  Register(net.fc, "weight", Turned());
  EXPECT_EQ(Original(net).shape(), (Shape{3, 2}));
  EXPECT_TRUE(net.fc(X()).Equals(before));
  RemoveParametrizations(net.fc, "weight");
  EXPECT_EQ(net.fc.weight().ToVector<float>(), kWeight);
}

TEST(ParametrizeTest, WhatCannotBeChangesNothing) {
  Net net;
  const Tensor weight = net.fc.weight();
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "wieght", WeightNorm()); }),
            "parametrize::Register: net.fc itself has no parameter wieght; there are weight, bias");
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "weight", Wrong()); }),
            "parametrize::Register: what Wrong computes must be f32 [2, 3] on cpu, got f32 [3, 2]"
            " on cpu");
  EXPECT_NE(ErrorOf([&] { Register(net.fc, "weight", WeightNorm{.dim = 2}); }), "");
  Linear open({.out = 2});
  EXPECT_NE(ErrorOf([&] { Register(open, "weight", WeightNorm()); }).find("no size yet"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] { RemoveParametrizations(net.fc, "weight"); }),
            "parametrize::RemoveParametrizations: weight of net.fc is not parametrized");
  EXPECT_EQ(net.fc.num_children(), 0u);
  EXPECT_TRUE(net.fc.weight().Is(weight));
  EXPECT_EQ(weight.ToVector<float>(), kWeight);
}

TEST(ParametrizeTest, ACallThatFailsLeavesNoValue) {
  Net net;
  const auto on = std::make_shared<bool>(false);
  Register(net.fc, "weight", Fails{on});
  *on = true;
  EXPECT_NE(ErrorOf([&] { net.fc(X()); }).find("net.fc.parametrizations.weight.0"),
            std::string::npos);
  *on = false;
  EXPECT_THROW(net.fc(Ones({2, 4})), Error);  // in the layer itself
  EXPECT_TRUE(IsPending(net.fc.weight()));
  net.fc(X());
}

}  // namespace
}  // namespace firn::nn::parametrize
