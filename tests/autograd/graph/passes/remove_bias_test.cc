// The bias before a batch norm is removed, and results change only by rounding.

#include "firn/autograd/graph/passes/remove_bias.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/autograd/graph/passes/channel_source.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/problems/conv_problem.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/autograd/graph/training.h"

namespace firn {
namespace {

using testing::Batch;
using testing::CountOf;
using testing::Difference;
using testing::GraphBuilder;
using testing::RunGraph;
using testing::RunPass;

struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 2, .out = 8, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn =
      Add<nn::BatchNorm2d>("bn", {.channels = 8, .activation = FusedActivation::kTanh});
  nn::Conv1d& line = Add<nn::Conv1d>("line", {.in = 8, .out = 8, .kernel = 3});
  nn::BatchNorm1d& line_bn = Add<nn::BatchNorm1d>("line_bn", {.channels = 8});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 8 * 14, .out = 6});
  nn::BatchNorm1d& fc_bn = Add<nn::BatchNorm1d>("fc_bn", {.channels = 6});
  Tensor Forward(const Tensor& x) {
    const Tensor image = bn(conv(x));
    const Tensor row = line_bn(line(Reshape(image, {x.size(0), 8, 16})));
    return fc_bn(fc(Flatten(Tanh(row), 1)));
  }
};

struct Training : testing::Training<Net, optim::Sgd> {
  Training() : testing::Training<Net, optim::Sgd>({.lr = 0.1, .momentum = 0.9}) {}
};

TEST(RemoveBiasTest, ATrainingStepGoesOnAsBefore) {
  Training ordinary, frozen;
  const std::vector<Batch> batches = testing::Batches(6, {5, 2, 4, 4}, 6);
  ordinary.Step(batches[0]);
  Graph graph = frozen.CapturedStep(batches[0]);
  const PassReport report = RunPass(RemoveBiasBeforeBatchNorm, graph);
  EXPECT_EQ(report.what.size(), 6u) << graph.DebugString();  // three biases and their gradients
  for (const Instr& instr : graph.instrs) {
    const ChannelMap* map = ChannelMapOf(graph, instr);
    EXPECT_TRUE(map == nullptr || instr.in[map->bias] == kNoValue) << Describe(instr);
  }
  for (size_t i = 1; i < batches.size(); ++i) {
    const Tensor in[] = {batches[i].x, batches[i].labels};
    const Tensor want = ordinary.Step(batches[i]);
    EXPECT_NEAR(RunGraph(graph, in)[0].Item(), want.Item(), 1e-5 * std::abs(want.Item())) << i;
  }
  const StateDict got = frozen.net->state_dict(), want = ordinary.net->state_dict();
  for (const auto& [name, value] : want) {
    EXPECT_LT(Difference(got[name], value), 2e-5) << name;
  }
}

TEST(RemoveBiasTest, TheGradientOfTheBiasIsZero) {
  Training t;
  const std::vector<Batch> batches = testing::Batches(2, {5, 2, 4, 4}, 6);
  Graph graph = t.CapturedStep(batches[0]);
  const Tensor noise = t.net->conv.bias().grad().Clone();
  EXPECT_LT(Difference(noise + 1, Ones({8})), 1e-5);  // zero but for rounding
  RunPass(RemoveBiasBeforeBatchNorm, graph);
  const Tensor in[] = {batches[1].x, batches[1].labels};
  RunGraph(graph, in);
  for (const nn::ConvBase* conv :
       {static_cast<nn::ConvBase*>(&t.net->conv), static_cast<nn::ConvBase*>(&t.net->line)}) {
    EXPECT_TRUE(conv->bias().grad().Equals(Zeros({8})));
  }
  EXPECT_TRUE(t.net->fc.bias().grad().Equals(Zeros({6})));
}

TEST(RemoveBiasTest, TheRunningMeanStillSeesTheBias) {
  const Tensor bias = Full({4}, 100.0), mean = Zeros({4}), var = Ones({4});
  GraphBuilder b;
  const ValueId x = b.Input({2, 3, 4, 4});
  const ValueId y = b.Call("conv2d", {x, b.State(Randn({4, 3, 1, 1})), b.State(bias)}, ConvAttrs{});
  const ValueId z = b.Call("batch_norm_train", {y, kNoValue, kNoValue, b.State(mean), b.State(var)},
                           BatchNormAttrs{.momentum = 0.25});
  Graph graph = b.Build({z});
  RunPass(RemoveBiasBeforeBatchNorm, graph);
  const Tensor in[] = {Zeros({2, 3, 4, 4})};
  RunGraph(graph, in);
  EXPECT_TRUE(mean.Equals(Full({4}, 25.0)));
  Tensor(bias).Fill(0);
  RunGraph(graph, in);
  EXPECT_TRUE(mean.Equals(Full({4}, 18.75)));
}

TEST(RemoveBiasTest, AnF32RunningMeanSeesTheBiasOfAHalfType) {
  const Tensor bias = Full({4}, 100.0).To(DType::kBF16), mean = Zeros({4}), var = Ones({4});
  GraphBuilder b;
  const ValueId x = b.Input({2, 3, 4, 4}, DType::kBF16);
  const ValueId weight = b.State(Randn({4, 3, 1, 1}).To(DType::kBF16));
  const ValueId y = b.Call("conv2d", {x, weight, b.State(bias)}, ConvAttrs{});
  const ValueId z = b.Call("batch_norm_train", {y, kNoValue, kNoValue, b.State(mean), b.State(var)},
                           BatchNormAttrs{.momentum = 0.1});
  Graph graph = b.Build({z});
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 1);
  const Tensor in[] = {Zeros({2, 3, 4, 4}, DType::kBF16)};
  RunGraph(graph, in);
  EXPECT_LT(Difference(mean, Full({4}, 10.0)), 1e-6);  // bf16 has no 0.1
}

// A convolution with bias and a batch norm after it.
struct Normed {
  GraphBuilder b;
  ValueId bias = b.State(Randn({4}));
  ValueId y =
      b.Call("conv2d", {b.Input({2, 3, 4, 4}), b.State(Randn({4, 3, 1, 1})), bias}, ConvAttrs{});
  ValueId Norm() {
    return b.Call("batch_norm_train", {y, kNoValue, kNoValue, kNoValue, kNoValue},
                  BatchNormAttrs{});
  }
};

TEST(RemoveBiasTest, NotIfTheConvolutionIsReadElsewhere) {
  Normed n;
  const ValueId z = n.Norm();
  Graph graph = n.b.Build({n.b.Call("add", {z, n.y}, AddAttrs{})});
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 0);
}

TEST(RemoveBiasTest, NotIfTheMeanIsRead) {
  Normed n;
  const ValueId z = n.Norm();
  const ValueId mean = n.b.result(1);
  Graph graph = n.b.Build({z, mean});
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 0);
}

TEST(RemoveBiasTest, NotIfTheBiasChangesInBetween) {
  Normed n;
  n.b.Call("accumulate", {n.bias, n.b.Constant(Ones({4}))});
  Graph graph = n.b.Build({n.Norm()});
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 0);
}

TEST(RemoveBiasTest, OtherSumsOverChannelsStay) {
  GraphBuilder b;
  const ValueId x = b.Input({2, 4, 3, 3});
  Graph graph = b.Build({b.Call("channel_sum", {b.Call("neg", {x})})});
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 0);
  EXPECT_EQ(CountOf(graph, "channel_sum"), 1);
}

}  // namespace
}  // namespace firn
