#include "firn/nn/clone.h"

#include <gtest/gtest.h>

#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/res_unit.h"
#include "firn/nn/sequential.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

struct BlockOptions {
  int64_t width = 1;
};
struct Block final : Layer {
  using Options = BlockOptions;
  explicit Block(const Options& o) : options_(o) {
    for (int64_t i = 0; i < 2; ++i) layers.Append({.in = o.width, .out = o.width});
  }
  const Options& options() const { return options_; }
  ModuleList<Linear>& layers = Add<ModuleList<Linear>>("layers");

 protected:
  Tensor Forward(const Tensor& x) override {
    Tensor y = x;
    for (Linear& layer : layers) y = layer(y);
    return y;
  }

 private:
  Options options_;
};

struct Tower : Module {
  Tower(int64_t in, int64_t out) : fc(Add<Linear>("fc", {.in = in, .out = out})) {}
  Linear& fc;
};

struct Net : Module {
  Block& block = Add<Block>("block", {.width = 3});
  Tower& tower = Add<Tower>("tower", 3, 3);
  Sequential& tail =
      Add<Sequential>("tail", {New<Linear>({.out = 2}), [](const Tensor& x) { return Mul(x, 2); }});
  Net() { ShareParameter("tower.fc.weight", block.layers[0].weight()); }
  Tensor Forward(const Tensor& x) { return tail(tower.fc(block(x))); }
};

TEST(CloneTest, CopiesAnyTreeOfUserClasses) {
  Net net;
  const Tensor x = FromVector<float>({1, 2, 3}, {1, 3});
  const Tensor y = net.Forward(x);
  net.tower.Eval();
  net.tail.SetTrainable(false);
  const std::unique_ptr<Net> copy = Clone(net);
  EXPECT_EQ(copy->ToString(), net.ToString());
  EXPECT_TRUE(copy->Forward(x).Equals(y));
  EXPECT_FALSE(copy->tower.training());
  EXPECT_TRUE(copy->training());
  EXPECT_FALSE(copy->tail.parameters()[0].requires_grad());
  EXPECT_TRUE(copy->tower.fc.weight().requires_grad());
  // The clone has elements of its own.
  copy->block.layers[0].weight();
  for (size_t i = 0; i < net.parameters().size(); ++i) {
    EXPECT_NE(net.parameters()[i].host_view<float>().data(),
              copy->parameters()[i].host_view<float>().data());
  }
}

TEST(CloneTest, KeepsTies) {
  Net net;
  net.Forward(Ones({1, 3}));
  const std::unique_ptr<Net> copy = Clone(net);
  EXPECT_TRUE(copy->tower.fc.weight().Is(copy->block.layers[0].weight()));
  EXPECT_FALSE(copy->tower.fc.weight().Is(net.tower.fc.weight()));
  EXPECT_EQ(copy->parameters().size(), net.parameters().size());
}

TEST(CloneTest, KeepsTiesMadeAfterConstruction) {
  struct Pair : Module {
    Linear& a = Add<Linear>("a", {.in = 2, .out = 2});
    Linear& b = Add<Linear>("b", {.in = 2, .out = 2});
  };
  Pair pair;
  pair.ShareParameter("b.weight", pair.a.weight());
  const std::unique_ptr<Pair> copy = Clone(pair);
  EXPECT_TRUE(copy->a.weight().Is(copy->b.weight()));
  EXPECT_FALSE(copy->a.bias().Is(copy->b.bias()));
}

TEST(CloneTest, PendingParametersPendInTheCopy) {
  Net net;
  const std::unique_ptr<Net> copy = Clone(net);
  copy->Forward(Ones({1, 3}));
  EXPECT_TRUE(IsPending(net.tail.parameters()[0]));
  EXPECT_FALSE(IsPending(copy->tail.parameters()[0]));
}

TEST(CloneTest, CopiesLayersAppendedSince) {
  Sequential net;
  net.Append<Linear>({.in = 2, .out = 3});
  net.Append([](const Tensor& x) { return Mul(x, 2); });
  const std::unique_ptr<Sequential> copy = Clone(net);
  EXPECT_EQ(copy->size(), 2u);
  const Tensor x = Ones({1, 2});
  EXPECT_TRUE((*copy)(x).Equals(net(x)));
}

TEST(CloneTest, ClonesAChildByHowItWasMade) {
  Net net;
  const std::unique_ptr<Tower> copy = Clone(net.tower);  // has no default constructor
  EXPECT_TRUE(copy->fc.weight().Equals(net.tower.fc.weight()));
  EXPECT_EQ(copy->name(), "tower");
  const Layer& layer = net.block;
  const std::unique_ptr<Layer> any = Clone(layer);
  EXPECT_EQ(any->type_name(), "Block");
}

TEST(CloneTest, SaysWhatAClassNeeds) {
  const Tower tower(1, 2);
  const std::string error = testing::ErrorOf([&] { Clone(tower); });
  EXPECT_NE(error.find("no way to make another Tower"), std::string::npos) << error;
}

TEST(CloneTest, GradientsAreNotCopied) {
  Net net;
  Sum(net.Forward(Ones({1, 3}))).Backward();
  EXPECT_FALSE(Clone(net)->parameters()[0].grad().defined());
}

struct Residual : Module {
  ResUnit& unit = Add<ResUnit>("unit", {.in = 4, .out = 4});
  Sequential& tail = Add<Sequential>(
      "tail", {New<ResUnit>({.in = 4, .out = 4}), New<ResUnit>({.out = 6, .stride = 2})});
  Tensor Forward(const Tensor& x) { return tail(unit(x)); }
};

TEST(CloneTest, CopiesUnitsWithAndWithoutAShortcut) {
  Residual net;
  const Tensor x = Randn({1, 4, 3, 3});
  net.Forward(x);
  net.Eval();
  const Tensor y = net.Forward(x);
  const std::unique_ptr<Residual> copy = Clone(net);
  EXPECT_TRUE(copy->Forward(x).Equals(y));
  EXPECT_EQ(copy->ToString(), net.ToString());
  EXPECT_EQ(copy->state_dict().size(), net.state_dict().size());
  const std::unique_ptr<Sequential> tail = Clone(net.tail);
  const Tensor z = net.unit(x);
  EXPECT_TRUE((*tail)(z).Equals(net.tail(z)));
}

TEST(CloneTest, MovesNoLaterRandomNumbers) {
  const Net net;
  const Tower tower(3, 3);
  ManualSeed(5);
  const Tensor want = Randn({4});
  ManualSeed(5);
  Clone(net);
  EXPECT_THROW(Clone(tower), Error);
  EXPECT_TRUE(Randn({4}).Equals(want));
}

}  // namespace
}  // namespace firn::nn
