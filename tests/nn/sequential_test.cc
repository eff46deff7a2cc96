#include "firn/nn/sequential.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

template <class List, class Kind>
concept Appends = requires(List& list) {
  list.template Append<Kind>();
};

TEST(SequentialTest, RunsLayersFunctionsAndNestedOnesInOrder) {
  Sequential net({
      New<Flatten>(),
      New<Sequential>({New<Linear>({.out = 4}), [](const Tensor& x) { return Mul(x, 0); }}),
      {"head", New<Linear>({.out = 2, .bias = false})},
  });
  const Tensor y = net(Ones({3, 2, 5}));
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  EXPECT_EQ(y.ToVector<float>(), std::vector<float>(6, 0.f));
  EXPECT_EQ(net.ToString(), R"(Sequential(
  (0): Flatten()
  (1): Sequential(
    (0): Linear(10 -> 4)
    (1): Lambda()
  )
  (head): Linear(4 -> 2, bias=false)
))");
  EXPECT_EQ(net.named_parameters()[0].name, "1.0.weight");
}

TEST(SequentialTest, IsIdentityWhenEmpty) {
  const Tensor x = Ones({2});
  EXPECT_TRUE(Sequential()(x).Is(x));
}

TEST(ModuleListTest, HoldsModulesOfOneKind) {
  ModuleList<Linear> list({{.in = 2, .out = 3}, {.in = 3, .out = 4}});
  list.Append({.in = 4, .out = 5});
  Tensor y = Ones({1, 2});
  for (Linear& layer : list) y = layer(y);
  EXPECT_EQ(y.shape(), (Shape{1, 5}));
  EXPECT_EQ(list.named_parameters()[4].name, "2.weight");
  EXPECT_THROW(list[3], Error);
}

TEST(ModuleListTest, HoldsLayersOfAnyKind) {
  ModuleList<> list;
  list.Append<Linear>({.out = 3});
  list.Append<Flatten>({.start_dim = 0});
  Tensor y = Ones({2, 2});
  for (Layer& layer : list) y = layer(y);
  EXPECT_EQ(y.shape(), (Shape{6}));
}

TEST(ModuleDictTest, FindsModulesByKey) {
  ModuleDict<Linear> heads;
  heads.Insert("digits", {.in = 2, .out = 10});
  heads.Insert("parity", {.in = 2, .out = 1});
  EXPECT_EQ(heads["parity"].options().out, 1);
  EXPECT_TRUE(heads.Contains("digits"));
  EXPECT_EQ(heads.named_parameters()[2].name, "parity.weight");
  EXPECT_THROW(heads["letters"], Error);
  EXPECT_THROW(heads.Insert("parity", {.out = 1}), Error);
}

TEST(SequentialTest, RefusesALayerThatIsNotThere) {
  struct Net : Module {
    Sequential& body = Add<Sequential>("body", {New<Linear>({.in = 2, .out = 2}), New<Flatten>()});
  } net;
  EXPECT_EQ(net.body[1].type_name(), "Flatten");
  EXPECT_EQ(ErrorOf([&] { net.body[2]; }), "Sequential: net.body has no layer 2, only 2");
  EXPECT_EQ(ErrorOf([] { Sequential()[0]; }), "Sequential: sequential has no layer 0, only 0");
}

TEST(SequentialTest, MayBeGivenNoLayers) {
  EXPECT_EQ(Sequential({}).size(), 0u);
  EXPECT_EQ(Sequential(Sequential::Options()).size(), 0u);
}

TEST(SequentialTest, RefusesEmptyFunctionsAndFactories) {
  using Function = std::function<Tensor(const Tensor&)>;
  EXPECT_EQ(ErrorOf([] { Sequential({Function()}); }),
            "LayerSpec: the function of a layer is empty");
  EXPECT_EQ(ErrorOf([] { Sequential({static_cast<Tensor (*)(const Tensor&)>(nullptr)}); }),
            "LayerSpec: the function of a layer is empty");
  EXPECT_EQ(ErrorOf([] { LayerSpec{ModuleFactory()}; }),
            "LayerSpec: the factory of a layer is empty");
}

// A module that is no Layer has no Forward that a Sequential could call.
TEST(SequentialTest, RefusesWhatIsNoLayerAndStaysAsItWas) {
  Sequential net({New<Flatten>()});
  const LayerSpec list(FactoryFrom<ModuleDict<>>());
  EXPECT_EQ(ErrorOf([&] { net.Append(list); }),
            "LayerSpec: the factory of a layer made a ModuleDict, not an nn::Layer");
  const LayerSpec nothing([](const Module*) { return std::unique_ptr<Module>(); });
  EXPECT_EQ(ErrorOf([&] { net.Append(nothing); }),
            "LayerSpec: the factory of a layer made nothing, not an nn::Layer");
  EXPECT_EQ(net.size(), 1u);
  EXPECT_EQ(net.options().size(), 1u);
}

// One spec used twice makes two layers, each with parameters of its own.
TEST(SequentialTest, ASpecMakesANewLayerEachTime) {
  const LayerSpec spec = New<Linear>({.in = 2, .out = 2});
  Sequential net({spec, spec});
  ASSERT_EQ(net.parameters().size(), 4u);
  EXPECT_FALSE(net.parameters()[0].Is(net.parameters()[2]));
}

TEST(SequentialTest, RefusesANameThatAPositionHasTaken) {
  EXPECT_NE(ErrorOf([] {
              Sequential({{"1", New<Flatten>()}, New<Flatten>()});
            }).find("1"),
            std::string::npos);
}

TEST(ModuleListTest, SaysWhichElementIsMissing) {
  struct Net : Module {
    ModuleList<>& units = Add<ModuleList<>>("units");
    ModuleDict<>& heads = Add<ModuleDict<>>("heads");
  } net;
  net.units.Append<Flatten>();
  EXPECT_EQ(ErrorOf([&] { net.units[1]; }), "ModuleList: net.units has no element 1, only 1");
  EXPECT_EQ(ErrorOf([&] { net.heads["mask"]; }),
            "ModuleDict: net.heads has no element mask; there are none");
  net.heads.Insert<Flatten>("masks");
  EXPECT_EQ(ErrorOf([&] { net.heads["mask"]; }),
            "ModuleDict: net.heads has no element mask; there are masks");
}

// Walking over the elements as convolutions would meet the linear one too late.
TEST(ModuleListTest, HoldsNothingOfAnotherKind) {
  static_assert(Appends<ModuleList<Linear>, Linear>);
  static_assert(!Appends<ModuleList<Linear>, Flatten>);
  static_assert(Appends<ModuleList<Layer>, Flatten>);
}

}  // namespace
}  // namespace firn::nn
