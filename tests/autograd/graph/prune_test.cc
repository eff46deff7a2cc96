#include "firn/autograd/graph/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::RunGraph;

struct Net : nn::Module {
  nn::Linear& first = Add<nn::Linear>("first", {.in = 2, .out = 2, .bias = false});
  nn::Linear& second = Add<nn::Linear>("second", {.in = 2, .out = 2, .bias = false});
  Net() {
    const NoGradScope no_grad;
    Tensor(first.parameters()[0]).CopyFrom(FromVector<float>({1, -2, 3, -4}, {2, 2}));
    Tensor(second.parameters()[0]).CopyFrom(FromVector<float>({10, 20, -10, 40}, {2, 2}));
  }
  Tensor operator()(const Tensor& x) { return second(first(x)); }
};

Graph GraphOf(Net& net) {
  const NoGradScope no_grad;
  const Tensor x = Ones({1, 2});
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{net(in[0])}; }, {&x, 1})
      .graph;
}

TEST(PruneTest, OfEachLayerTheSmallestBecomeZero) {
  Net net;
  Graph graph = GraphOf(net);
  const auto result = Prune(graph, {.fraction = 0.5});
  ASSERT_EQ(result.layers.size(), 2u);
  EXPECT_EQ(result.zeros, 4);
  EXPECT_EQ(result.weights, 8);
  EXPECT_EQ(result.layers[1].zeros, 2);
  const std::vector<Tensor> weights = {result.state.begin()->second,
                                       (result.state.begin() + 1)->second};
  EXPECT_THAT(weights[0].ToVector<float>(), ElementsAre(0, 0, 3, -4));
  EXPECT_THAT(weights[1].ToVector<float>(), ElementsAre(0, 20, 0, 40));
  EXPECT_TRUE(weights[0].requires_grad());
  // first: [0, -1]; second: [-20, -40].
  EXPECT_THAT(RunGraph(graph, {Ones({1, 2})})[0].ToVector<float>(), ElementsAre(-20, -40));
  EXPECT_THAT(net.first.parameters()[0].ToVector<float>(), ElementsAre(1, -2, 3, -4));
}

TEST(PruneTest, TogetherTheSmallestOfAll) {
  Net net;
  Graph graph = GraphOf(net);
  const auto result = Prune(graph, {.fraction = 5.0 / 8, .together = true});
  EXPECT_EQ(result.layers[0].zeros, 4);
  EXPECT_EQ(result.layers[0].lost, 1);
  EXPECT_EQ(result.layers[1].zeros, 1);  // of two of magnitude 10 the first
  EXPECT_THAT((result.state.begin() + 1)->second.ToVector<float>(), ElementsAre(0, 20, -10, 40));
}

TEST(PruneTest, NothingAllAndSomeModules) {
  Net net;
  Graph none = GraphOf(net), all = GraphOf(net);
  EXPECT_EQ(Prune(none, {.fraction = 0}).zeros, 0);
  EXPECT_EQ(Prune(all, {.fraction = 1}).zeros, 8);
  EXPECT_THAT(RunGraph(all, {Ones({1, 2})})[0].ToVector<float>(), ElementsAre(0, 0));
  Graph rounded = GraphOf(net);  // 0.7 of 8 are 5.6
  EXPECT_EQ(Prune(rounded, {.fraction = 0.7, .together = true}).zeros, 6);
  Graph one = GraphOf(net);
  const std::string module = std::string(one.instrs[0].module_path());
  const auto result = Prune(one, {.fraction = 1, .modules = {module}});
  EXPECT_EQ(result.layers.size(), 1u);
  EXPECT_EQ(result.layers[0].module, module);
  EXPECT_TRUE(result.state.Contains(module + ".weight"));
}

TEST(PruneTest, RefusesWhatMakesNoSense) {
  Net net;
  Graph graph = GraphOf(net);
  const std::string before = graph.DebugString();
  EXPECT_THAT(ErrorOf([&] { Prune(graph, {.fraction = 1.5}); }),
              HasSubstr("fraction must lie in [0, 1], got 1.5"));
  const NoGradScope no_grad;
  Tensor(net.second.parameters()[0]).Fill(0.0 / 0.0);
  EXPECT_THAT(ErrorOf([&] { Prune(graph); }), HasSubstr("its weight has a NaN"));
  EXPECT_EQ(graph.DebugString(), before);
}

}  // namespace
}  // namespace firn
