// Layers that are members of their own instead of children made by Add: they are not trained, saved
// or switched to evaluation with the network, and a warning says so.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

// What `f` writes to stderr.
template <class F>
std::string Said(F f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

struct AllForgotten : nn::Module {
  nn::Linear fc{{.in = 4, .out = 2}};
  Tensor Forward(const Tensor& x) { return fc(x); }
};

TEST(UnregisteredTest, AnOptimizerOfNothingIsRefused) {
  AllForgotten net;
  const std::string why = testing::ErrorOf([&] { optim::Adam adam(net.parameters(), {}); });
  EXPECT_NE(why.find("no parameters"), std::string::npos) << why;
  EXPECT_NE(why.find("Add"), std::string::npos) << why;
  optim::Sgd sgd(net.fc.parameters(), {.lr = 0.1});
  EXPECT_THROW(sgd.AddGroup(net.parameters(), {.lr = 0.1}), Error);
  EXPECT_THROW(sgd.SetParameters({}), Error);
  EXPECT_EQ(sgd.num_groups(), 1u);
  EXPECT_EQ(sgd.parameters().size(), 2u);
}

struct OneForgotten : nn::Module {
  nn::Linear& first = Add<nn::Linear>("first", {.in = 4, .out = 3});
  nn::Linear second{{.in = 3, .out = 2}};
  Tensor Forward(const Tensor& x) { return second(first(x)); }
};

TEST(UnregisteredTest, AParameterThatNoOptimizerHasIsNamedOnce) {
  OneForgotten net;
  optim::Sgd sgd(net.parameters(), {.lr = 0.1});
  const auto step = [&] {
    sgd.ZeroGrad();
    Sum(net.Forward(Ones({1, 4}))).Backward();
    sgd.Step();
  };
  const std::string said = Said(step);
  EXPECT_NE(said.find("parameter linear.weight and 1 others"), std::string::npos) << said;
  EXPECT_EQ(Said(step), "");
}

TEST(UnregisteredTest, WhatAnotherOptimizerHasOrNobodyTrainsIsNotNamed) {
  nn::Linear one({.in = 4, .out = 3}), two({.in = 3, .out = 2}), fixed({.in = 2, .out = 2});
  fixed.SetTrainable(false);
  optim::Sgd first(one.parameters(), {.lr = 0.1}), second(two.parameters(), {.lr = 0.1});
  EXPECT_EQ(Said([&] {
              Sum(fixed(two(one(Ones({1, 4}))))).Backward();
              first.Step();
              second.Step();
            }),
            "");
}

TEST(UnregisteredTest, AParameterOfTwoOptimizersIsNamedOnce) {
  nn::Linear fc({.in = 4, .out = 3});
  optim::Sgd sgd(fc.parameters(), {.lr = 0.1});
  EXPECT_EQ(
      Said([&] {
        optim::Adam adam(fc.parameters(), {});
        adam.Step();
        adam.Step();
      }),
      "firn: parameter linear.weight and 1 others are in two optimizers, Sgd and Adam: a Step of "
      "either moves them\n");
  // Parameters that one optimizer gives up, or that die with it, may go to another.
  EXPECT_EQ(Said([&] {
              sgd.RemoveParameters({"0"});
              optim::Adam adam({fc.weight()}, {});
              adam.Step();
            }),
            "");
  EXPECT_EQ(Said([&] {
              {
                optim::Adam adam({fc.bias()}, {});
                sgd.ClearParameters();
                adam.Step();
              }
              for (int i = 0; i < 2; ++i) optim::Adam(fc.parameters(), {}).Step();
              sgd.SetParameters(fc.parameters());
              sgd.SetParameters({fc.bias()});
              optim::Adam({fc.weight()}, {}).Step();
            }),
            "");
}

TEST(UnregisteredTest, WhatTheOldOptimizerLetsGoLaterIsNotNamed) {
  nn::Linear fc({.in = 4, .out = 3});
  optim::Sgd sgd(fc.parameters(), {.lr = 0.1});
  optim::Adam adam(fc.parameters(), {});
  sgd.RemoveParameters({"0"});
  EXPECT_EQ(
      Said([&] { adam.Step(); }),
      "firn: parameter linear.bias is in two optimizers, Sgd and Adam: a Step of either moves "
      "it\n");
  optim::Adam other(fc.parameters(), {});
  adam.ClearParameters();
  sgd.ClearParameters();
  EXPECT_EQ(Said([&] { other.Step(); }), "");
  // The warning names those of the three that stay.
  optim::Sgd third(fc.parameters(), {.lr = 0.1}), fourth(fc.parameters(), {.lr = 0.1});
  third.ClearParameters();
  EXPECT_NE(Said([&] { fourth.Step(); }).find("Adam and Sgd"), std::string::npos);
}

TEST(UnregisteredTest, AnOptimizerThatTakesThePlaceOfAnotherIsNotNamed) {
  nn::Linear fc({.in = 4, .out = 3});
  std::unique_ptr<optim::Optimizer> optimizer =
      std::make_unique<optim::Adam>(fc.parameters(), optim::AdamOptions{});
  EXPECT_EQ(Said([&] {
              optimizer = std::make_unique<optim::Sgd>(fc.parameters(), optim::SgdOptions{});
              optimizer->Step();
            }),
            "");
}

struct Outer final : nn::Layer {
  nn::Linear& own = Add<nn::Linear>("own", {.in = 4, .out = 4});
  nn::Dropout drop{{.p = 0.5}};

 protected:
  Tensor Forward(const Tensor& x) override { return drop(own(x)); }
};

TEST(UnregisteredTest, ALayerThatCallsAStrangerSaysSoOnceInTraining) {
  Outer outer;
  outer.Eval();
  outer.drop.Eval();
  EXPECT_EQ(Said([&] { outer(Ones({1, 4})); }), "");
  outer.Train();
  outer.drop.Train();
  const std::string said = Said([&] { outer(Ones({1, 4})); });
  EXPECT_NE(said.find("outer calls dropout"), std::string::npos) << said;
  EXPECT_EQ(Said([&] { outer(Ones({1, 4})); }), "");
}

// A part may use any other part of its network: tied embeddings, shared heads.
struct Tied : nn::Module {
  nn::Linear& shared = Add<nn::Linear>("shared", {.in = 4, .out = 4});
  struct User final : nn::Layer {
    nn::Linear* linear = nullptr;

   protected:
    Tensor Forward(const Tensor& x) override { return (*linear)(x); }
  };
  User& user = Add<User>("user");
};

TEST(UnregisteredTest, PartsOfOneNetworkMayCallEachOther) {
  Tied net;
  net.user.linear = &net.shared;
  EXPECT_EQ(Said([&] { net.user(Ones({1, 4})); }), "");
}

}  // namespace
}  // namespace firn
