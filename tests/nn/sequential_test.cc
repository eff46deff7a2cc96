#include "nn/sequential.h"

#include <gtest/gtest.h>

#include "nn/linear.h"
#include "nn/module_list.h"
#include "nn/shape_layers.h"
#include "tensor/ops/full.h"
#include "tensor/ops/mul.h"

namespace firn::nn {
namespace {

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

}  // namespace
}  // namespace firn::nn
