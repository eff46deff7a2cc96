// What a captured graph cannot see: modes of modules and requires_grad that are turned after the
// capture, and children that come later. A run is refused by name then, and goes on when modes are
// turned back.
#include <memory>
#include <string>

#include "firn/firn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using ::testing::HasSubstr;

struct Net final : nn::Layer {
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 4, .out = 3});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.5});

 protected:
  Tensor Forward(const Tensor& x) override { return drop(fc(x)); }
};

struct Training {
  Net net;
  optim::Sgd sgd{net.named_parameters(), {.lr = 0.1}};
  Tensor x = Ones({2, 4});
  StaticGraph step = Freeze(
      [this](const Tensor& in) {
        sgd.ZeroGrad();
        const Tensor loss = Mean(Square(net(in)));
        loss.Backward();
        sgd.Step();
        return loss;
      },
      x);
};

TEST(FrozenModesTest, EvalAfterFreezeIsRefusedByName) {
  Training t;
  t.step(t.x);
  t.net.Eval();
  const Tensor before = t.net.fc.weight().Clone();
  EXPECT_FALSE(t.step.StandsAsCaptured());
  EXPECT_THAT(
      testing::ErrorOf([&] { t.step(t.x); }),
      HasSubstr("training() of net.drop was true when the graph was captured and is false now; "
                "capture again"));
  EXPECT_TRUE(before.Equals(t.net.fc.weight()));  // nothing has changed
  t.net.Train();
  EXPECT_TRUE(t.step.StandsAsCaptured());
  t.step(t.x);
  EXPECT_FALSE(before.Equals(t.net.fc.weight()));
}

TEST(FrozenModesTest, TrainAfterFreezeInEvalModeIsRefused) {
  Net net;
  net.Eval();
  const NoGradScope no_grad;
  const Tensor x = Ones({2, 4});
  StaticGraph graph = Freeze([&](const Tensor& in) { return net(in); }, x);
  net.Train();
  EXPECT_THAT(testing::ErrorOf([&] { graph(x); }), HasSubstr("training() of net.drop was false"));
}

// A module that no captured code asked may be in any mode.
TEST(FrozenModesTest, ModesThatDoNotMatterMayBeTurned) {
  nn::Linear fc({.in = 4, .out = 3});
  const NoGradScope no_grad;
  const Tensor x = Ones({2, 4});
  StaticGraph graph = Freeze([&](const Tensor& in) { return fc(in); }, x);
  const Tensor y = graph(x);
  fc.Eval();
  EXPECT_TRUE(graph(x).Equals(y));
  fc.SetTrainable(false);  // no gradient is computed
  EXPECT_TRUE(graph(x).Equals(y));
}

TEST(FrozenModesTest, ModesThatTheCapturedCodeSetsMayBeTurned) {
  Net net;
  const NoGradScope no_grad;
  const Tensor x = Ones({2, 4});
  StaticGraph graph = Freeze(
      [&](const Tensor& in) {
        net.Eval();
        return net(in);
      },
      x);
  const Tensor y = graph(x);
  net.Train();
  EXPECT_TRUE(graph(x).Equals(y));
}

TEST(FrozenModesTest, SetTrainableAfterFreezeIsRefusedByName) {
  Training t;
  t.net.fc.SetTrainable(false);
  const Tensor before = t.net.fc.weight().Clone();
  EXPECT_THAT(
      testing::ErrorOf([&] { t.step(t.x); }),
      HasSubstr("requires_grad() of parameter net.fc.weight was true when the graph was captured"));
  EXPECT_TRUE(before.Equals(t.net.fc.weight()));
  t.net.fc.SetTrainable();
  t.step(t.x);
}

TEST(FrozenModesTest, APartThatIsTrainedOnlyLaterIsRefused) {
  nn::Sequential net{nn::New<nn::Linear>({.in = 4, .out = 4}),
                     nn::New<nn::Linear>({.in = 4, .out = 1})};
  net[0].SetTrainable(false);
  const Tensor x = Ones({2, 4});
  StaticGraph step = Freeze(
      [&](const Tensor& in) {
        const Tensor loss = Mean(net(in));
        loss.Backward();
        return loss;
      },
      x);
  step(x);
  net.SetTrainable();
  EXPECT_THAT(testing::ErrorOf([&] { step(x); }),
              HasSubstr("requires_grad() of parameter sequential.0.weight was false"));
}

// The graph has its own copy of a parameter: a later requires_grad() of the parameter changes no
// run.
TEST(FrozenModesTest, ConstantStatesRunWhateverTheirParametersWant) {
  nn::Linear fc({.in = 4, .out = 1});
  const Tensor x = Ones({2, 4});
  StaticGraph step = Freeze(
      {.constant_states = true},
      [&](const Tensor& in) {
        const Tensor loss = Mean(fc(in));
        loss.Backward();
        return loss;
      },
      x);
  const Tensor y = step(x);
  fc.SetTrainable(false);
  EXPECT_TRUE(step.StandsAsCaptured());
  EXPECT_TRUE(step(x).Equals(y));
}

// Two names for one memory are two leaves.
TEST(FrozenModesTest, EveryLeafOfAStorageIsLookedAt) {
  const Tensor all = Ones({4});
  Tensor one = all[{Range(0, 2)}].Detach().SetRequiresGrad(), two = all[{Range(2, 4)}].Detach();
  two.SetRequiresGrad();
  const Tensor x = Ones({2});
  StaticGraph step = Freeze(
      [&](const Tensor& in) {
        const Tensor loss = Sum(in * one * two);
        loss.Backward();
        return loss;
      },
      x);
  step(x);
  two.SetRequiresGrad(false);
  EXPECT_FALSE(step.StandsAsCaptured());
  EXPECT_THAT(testing::ErrorOf([&] { step(x); }), HasSubstr("requires_grad()"));
}

TEST(FrozenModesTest, AnotherLayerAfterFreezeIsRefusedByName) {
  nn::Sequential net({nn::New<nn::Linear>({.in = 4, .out = 4})});
  net.SetName("net");
  const Tensor x = Ones({2, 4});
  StaticGraph forward = Freeze([&](const Tensor& in) { return net(in); }, x);
  forward(x);
  net.Append<nn::Relu>();
  EXPECT_FALSE(forward.StandsAsCaptured());
  EXPECT_THAT(testing::ErrorOf([&] { forward(x); }),
              HasSubstr("net (Sequential) got another child since the graph was captured; capture "
                        "again"));
  forward = Freeze([&](const Tensor& in) { return net(in); }, x);
  EXPECT_TRUE(forward(x).Equals(net(x)));
  net.Append<nn::Relu>();  // of what was captured since, too
  EXPECT_FALSE(forward.StandsAsCaptured());
}

struct Lists final : nn::Layer {
  nn::ModuleList<nn::Linear>& units =
      Add<nn::ModuleList<nn::Linear>>("units", {{.in = 4, .out = 4}, {.in = 4, .out = 4}});
  nn::ModuleDict<>& named = Add<nn::ModuleDict<>>("named");

 protected:
  Tensor Forward(const Tensor& x) override {
    Tensor y = x;
    for (nn::Linear& unit : units) y = unit(y);
    return named.Contains("last") ? named["last"](y) : y;
  }
};

TEST(FrozenModesTest, ListsAndDictsThatGrowAreRefused) {
  Lists net;
  net.SetName("net");
  const Tensor x = Ones({2, 4});
  const auto freeze = [&] { return Freeze([&](const Tensor& in) { return net(in); }, x); };
  StaticGraph forward = freeze();
  net.units.Append({.in = 4, .out = 4});
  EXPECT_THAT(testing::ErrorOf([&] { forward(x); }),
              HasSubstr("net.units (ModuleList) got another child"));
  forward = freeze();
  net.named.Insert<nn::Relu>("last");
  EXPECT_THAT(testing::ErrorOf([&] { forward(x); }),
              HasSubstr("net.named (ModuleDict) got another child"));
  forward = freeze();
  net.named.Insert<nn::Relu>("another");  // the child that was used stays
  EXPECT_TRUE(forward.StandsAsCaptured());
}

// A list class of the program.
struct Tower final : nn::Layer {
  void Grow() { Add<nn::Linear>(std::to_string(num_children()), {.in = 4, .out = 4}); }

 protected:
  Tensor Forward(const Tensor& x) override {
    Tensor y = x;
    for (size_t i = 0, n = AskChildren(); i < n; ++i) y = dynamic_cast<nn::Layer&>(child(i))(y);
    return y;
  }
};

TEST(FrozenModesTest, AModuleThatAsksForItsChildrenIsRefusedToo) {
  Tower tower;
  tower.Grow();
  const Tensor x = Ones({2, 4});
  StaticGraph forward = Freeze([&](const Tensor& in) { return tower(in); }, x);
  forward(x);
  tower.Grow();
  EXPECT_THAT(testing::ErrorOf([&] { forward(x); }), HasSubstr("tower (Tower) got another child"));
}

TEST(FrozenModesTest, APlaceInAListMayBeTakenWhateverComesBehind) {
  nn::ModuleList<nn::Linear> units({{.in = 4, .out = 4}});
  const Tensor x = Ones({2, 4});
  StaticGraph forward = Freeze([&](const Tensor& in) { return units[0](in); }, x);
  units.Append({.in = 4, .out = 4});
  EXPECT_TRUE(forward(x).Equals(units[0](x)));
}

// Graphs are held longer than networks.
TEST(FrozenModesTest, TheGraphOutlivesTheModule) {
  auto net = std::make_unique<Net>();
  net->Eval();
  const NoGradScope no_grad;
  const Tensor x = Ones({2, 4});
  StaticGraph graph = Freeze([&](const Tensor& in) { return (*net)(in); }, x);
  const Tensor y = graph(x);
  net.reset();
  EXPECT_TRUE(graph(x).Equals(y));
}

}  // namespace
}  // namespace firn
