// What layers tell about themselves: the options they were made with, and their parameters, which
// are those of the state dict.

#include <gtest/gtest.h>

#include <string>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/embedding.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/norm.h"
#include "firn/nn/pooling.h"
#include "firn/nn/prelu.h"
#include "firn/nn/recurrent.h"
#include "firn/nn/recurrent_cells.h"
#include "firn/nn/res_unit.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

// The parameter or buffer of that name.
Tensor Named(const Module& module, const std::string& name) { return module.state_dict()[name]; }

bool Same(const Tensor& a, const Tensor& b) { return a.impl()->data == b.impl()->data; }

TEST(AccessorsTest, LayersTellTheirOptions) {
  EXPECT_EQ(BatchNorm2d({.channels = 3, .eps = 0.5}).options().eps, 0.5);
  EXPECT_EQ(Conv1d({.in = 1, .out = 2, .kernel = 3}).options().out, 2);
  EXPECT_EQ(Conv2d({.in = 1, .out = 2, .kernel = 3, .padding = 1}).options().out, 2);
  EXPECT_EQ(ConvTranspose2d({.in = 1, .out = 2, .kernel = 3}).options().out, 2);
  EXPECT_EQ(Embedding({.count = 5, .size = 2}).options().count, 5);
  EXPECT_EQ(Linear({.in = 1, .out = 2, .bias = false}).options().bias, false);
  EXPECT_EQ(LayerNorm({.shape = {4}, .eps = 0.25}).options().eps, 0.25);
  EXPECT_EQ(GroupNorm({.groups = 2, .channels = 4}).options().groups, 2);
  EXPECT_EQ(RmsNorm({.shape = {4}, .eps = 0.25}).options().eps, 0.25);
  EXPECT_EQ(Prelu({.count = 3}).options().count, 3);
  EXPECT_EQ(Lstm({.in = 2, .hidden = 3, .layers = 2}).options().layers, 2);
  EXPECT_EQ(Gru({.in = 2, .hidden = 3}).options().hidden, 3);
  EXPECT_EQ(Rnn({.in = 2, .hidden = 3, .bias = false}).options().bias, false);
  EXPECT_EQ(LstmCell({.in = 2, .hidden = 3}).options().hidden, 3);
  EXPECT_EQ(GruCell({.in = 2, .hidden = 3}).options().in, 2);
  EXPECT_EQ(RnnCell({.in = 2, .hidden = 3}).options().bias, true);
  EXPECT_EQ(ResUnit({.in = 4, .out = 8, .stride = 2}).options().stride, 2);
  EXPECT_EQ(MaxPool2d({.kernel = 3}).options().kernel, Sizes(3));
  EXPECT_EQ(AvgPool2d({.kernel = 3}).options().kernel, Sizes(3));
  EXPECT_TRUE(
      ModuleList<Linear>({{.in = 1, .out = 2}}).options().empty());  // a clone's copies follow
}

TEST(AccessorsTest, LayersGiveTheirParameters) {
  const LayerNorm layer({.shape = {4}});
  EXPECT_TRUE(Same(layer.weight(), Named(layer, "weight")));
  EXPECT_TRUE(Same(layer.bias(), Named(layer, "bias")));
  const GroupNorm group({.groups = 2, .channels = 4});
  EXPECT_TRUE(Same(group.weight(), Named(group, "weight")));
  EXPECT_TRUE(Same(group.bias(), Named(group, "bias")));
  const RmsNorm scale({.shape = {4}});
  EXPECT_TRUE(Same(scale.weight(), Named(scale, "weight")));
  const Prelu slopes({.count = 3});
  EXPECT_TRUE(Same(slopes.weight(), Named(slopes, "weight")));
  const Embedding embedding({.count = 5, .size = 2});
  EXPECT_TRUE(Same(embedding.weight(), Named(embedding, "weight")));
  EXPECT_FALSE(Linear({.in = 1, .out = 2, .bias = false}).bias().defined());
  const GruCell cell({.in = 2, .hidden = 3});
  EXPECT_TRUE(Same(cell.weight_ih(), Named(cell, "weight_ih")));
  EXPECT_TRUE(Same(cell.weight_hh(), Named(cell, "weight_hh")));
  EXPECT_TRUE(Same(cell.bias_ih(), Named(cell, "bias_ih")));
  EXPECT_TRUE(Same(cell.bias_hh(), Named(cell, "bias_hh")));
  const Lstm lstm({.in = 2, .hidden = 3, .bidirectional = true});
  EXPECT_TRUE(Same(lstm.weights()[1].w_hh, Named(lstm, "weight_hh_l0_reverse")));
}

}  // namespace
}  // namespace firn::nn
