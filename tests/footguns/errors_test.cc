// What a mistake leaves behind: a message that says where, and objects that go on working.

#include <gtest/gtest.h>

#include <stdexcept>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

struct Stem : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 3, .out = 4, .kernel = 3});
  nn::BatchNorm2d& bn1 = Add<nn::BatchNorm2d>("bn1");
  Tensor Forward(const Tensor& x) { return Relu(bn1(conv1(x))); }
};

struct Net : nn::Module {
  Stem& stem = Add<Stem>("stem");
  nn::Linear& fc = Add<nn::Linear>("fc", {.out = 2});
  bool fail = false;
  Tensor Forward(const Tensor& x) {
    const Tensor h = stem.Forward(x);
    if (fail) throw std::runtime_error("of the user's own");
    return fc(Flatten(h, 1));
  }
};

TEST(ErrorsTest, AnOperationNamesTheModuleThatCalledIt) {
  Net net;
  const std::string error = ErrorOf([&] { net.Forward(Ones({2, 5, 8, 8})); });
  EXPECT_EQ(error.find("conv2d at net.stem.conv1: "), 0u) << error;
  EXPECT_NE(error.find("3 input channels"), std::string::npos) << error;
  EXPECT_NE(error.find("[2, 5, 8, 8]"), std::string::npos) << error;
}

TEST(ErrorsTest, APathEndsWithItsCall) {
  Net net;
  ErrorOf([&] { net.Forward(Ones({2, 5, 8, 8})); });
  const std::string error = ErrorOf([] { Flatten(Ones({2}), 7); });
  EXPECT_EQ(error.find(" at "), std::string::npos) << error;
}

TEST(ErrorsTest, AModuleWorksOnAfterAnException) {
  Net net, twin;
  const Tensor x = Ones({2, 3, 8, 8});
  net.Forward(x);
  twin.Forward(x);
  twin.LoadStateDict(net.state_dict());
  net.fail = true;
  EXPECT_THROW(net.Forward(x), std::runtime_error);
  ErrorOf([&] { net.Forward(Ones({2, 5, 8, 8})); });
  net.fail = false;
  // The failed calls changed at most running statistics, as successful ones would have.
  twin.stem.Forward(x);
  EXPECT_TRUE(GradEnabled());
  const Tensor y = net.Forward(x), want = twin.Forward(x);
  EXPECT_TRUE(y.Equals(want));
  Sum(y).Backward();
  Sum(want).Backward();
  EXPECT_TRUE(net.fc.weight().grad().Equals(twin.fc.weight().grad()));
  EXPECT_TRUE(net.stem.bn1.running_mean().Equals(twin.stem.bn1.running_mean()));
}

TEST(ErrorsTest, AFailedFirstForwardLeavesSizesOpen) {
  Net net;
  ErrorOf([&] { net.Forward(Ones({2, 5, 8, 8})); });
  EXPECT_TRUE(IsPending(net.fc.weight()));
  EXPECT_EQ(net.Forward(Ones({2, 3, 8, 8})).shape(), (Shape{2, 2}));
  // Another size later is the linear layer's own error, not a new size.
  const std::string error = ErrorOf([&] { net.Forward(Ones({2, 3, 9, 9})); });
  EXPECT_EQ(error.find("linear at net.fc: "), 0u) << error;
}

TEST(ErrorsTest, AnExceptionInAHookLeavesTheLayerUsable) {
  nn::Linear layer({.in = 2, .out = 2});
  HookHandle hook = layer.RegisterForwardHook(
      [](nn::Module&, absl::Span<const Tensor>, Tensor&) { throw std::runtime_error("hook"); });
  EXPECT_THROW(layer(Ones({1, 2})), std::runtime_error);
  EXPECT_EQ(PathScope::Current(), "");
  hook.Remove();
  EXPECT_EQ(layer(Ones({1, 2})).shape(), (Shape{1, 2}));
}

TEST(ErrorsTest, UsingAPendingParameterNamesIt) {
  Net net;
  const std::string error = ErrorOf([&] { Sum(net.fc.weight()); });
  EXPECT_NE(error.find("net.fc.weight"), std::string::npos) << error;
  EXPECT_NE(error.find("first forward"), std::string::npos) << error;
}

TEST(ErrorsTest, AStepBeforeAnyForwardNamesAParameter) {
  nn::Sequential net({nn::New<nn::Linear>({.out = 3})});
  optim::Sgd sgd(net.parameters());
  const std::string error = ErrorOf([&] { sgd.Step(); });
  EXPECT_NE(error.find("sequential.0.weight"), std::string::npos) << error;
}

TEST(ErrorsTest, AModuleDestroyedBeforeItsResultLeavesTheTapeWhole) {
  Tensor loss, weight;
  {
    Net net;
    loss = Sum(net.Forward(Ones({2, 3, 8, 8})));
    weight = net.fc.weight();
  }
  loss.Backward();
  EXPECT_EQ(weight.grad().shape(), weight.shape());
}

TEST(ErrorsTest, ChangingAParameterBetweenForwardAndBackwardIsRefused) {
  nn::Linear layer({.in = 2, .out = 2});
  optim::Sgd sgd(layer.parameters(), {.lr = 0.1});
  const Tensor first = Sum(Relu(layer(Relu(layer(Ones({1, 2}))))));
  const Tensor second = Sum(Relu(layer(Relu(layer(Ones({1, 2}))))));
  first.Backward();
  sgd.Step();
  const std::string error = ErrorOf([&] { second.Backward(); });
  EXPECT_NE(error.find("changed in place"), std::string::npos) << error;
}

}  // namespace
}  // namespace firn
