// Methods of a module other than its call, with parametrized parameters.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "firn/nn/clone.h"
#include "firn/nn/conv.h"
#include "firn/nn/parametrizations.h"
#include "firn/nn/parametrize.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/ops.h"
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

// A module whose constructor registers, so that a copy already has what it would copy.
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

TEST(ParametrizeModuleTest, FrozenParametersStayFrozen) {
  Net net;
  net.SetTrainable(false);
  Register(net.fc, "weight", WeightNorm());
  EXPECT_FALSE(Original(net, "0").requires_grad());
  EXPECT_FALSE(net.fc(X()).requires_grad());
  net.SetTrainable();
  EXPECT_TRUE(net.fc(X()).requires_grad());
}

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
  // Another module cannot share a stand-in as its parameter.
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

  // The optimizer does not have the several new originals, says so, and takes them as a group.
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

}  // namespace
}  // namespace firn::nn::parametrize
