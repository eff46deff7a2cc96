#include "firn/autograd/graph/decompose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/internal/cpd.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::RunGraph;

template <class F>
Graph Captured(F f, const Tensor& x) {
  const NoGradScope no_grad;
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{f(in[0])}; }, {&x, 1}).graph;
}

double Difference(const Tensor& a, const Tensor& b) { return Amax(Abs(Sub(a, b))).Item<double>(); }

// A matrix of rank 2 loses nothing by two factors of rank 2.
TEST(DecomposeTest, ALinearLayerOfLowRankStaysExact) {
  nn::Linear fc({.in = 12, .out = 8});
  const Tensor x = Randn({5, 12});
  {
    const NoGradScope no_grad;
    Tensor(fc.parameters()[0]).CopyFrom(Matmul(Randn({8, 2}), Randn({2, 12})));
  }
  Graph graph = Captured([&](const Tensor& in) { return fc(in); }, x);
  const Tensor before = RunGraph(graph, {x})[0];
  const auto result = Decompose(graph, {.parameters = 2.0 * 20 / 96});
  ASSERT_EQ(result.layers.size(), 1u);
  const DecomposedLayer& layer = result.layers[0];
  EXPECT_EQ(layer.rank, 2);
  EXPECT_EQ(layer.before, 96);
  EXPECT_EQ(layer.parameters, 40);
  EXPECT_LT(layer.error, 1e-6);
  EXPECT_EQ(result.state.size(), 2u);
  EXPECT_TRUE(result.state.begin()->second.requires_grad());
  EXPECT_EQ(CountOf(graph, "linear"), 2);
  EXPECT_LT(Difference(RunGraph(graph, {x})[0], before), 2e-5);
}

// What is lost is the norm of the singular values that are left out.
TEST(DecomposeTest, SaysWhatIsLost) {
  nn::Linear fc({.in = 3, .out = 3, .bias = false});
  {
    const NoGradScope no_grad;
    Tensor(fc.parameters()[0]).CopyFrom(FromVector<float>({12, 0, 0, 0, 4, 0, 0, 0, 3}, {3, 3}));
  }
  const Tensor x = Randn({2, 3});
  Graph graph = Captured([&](const Tensor& in) { return fc(in); }, x);
  const auto result = Decompose(graph, {.parameters = 0.7});
  ASSERT_EQ(result.layers.size(), 1U);
  EXPECT_EQ(result.layers[0].rank, 1);
  EXPECT_NEAR(result.layers[0].error, 5.0 / 13, 1e-6);
}

// A convolution whose weight is a sum of products stays what it is, whatever its window does.
TEST(DecomposeTest, AConvolutionOfLowRankStaysExact) {
  nn::Conv2d conv({.in = 6, .out = 8, .kernel = 3, .stride = 2, .padding = 1, .dilation = 2});
  const Tensor x = Randn({2, 6, 11, 9});
  {
    const NoGradScope no_grad;
    const Tensor o = Randn({8, 2}), i = Randn({6, 2}), k = Randn({9, 2});
    Tensor(conv.parameters()[0])
        .CopyFrom(Reshape(Einsum("or,ir,kr->oik", {o, i, k}), {8, 6, 3, 3}));
  }
  Graph graph = Captured([&](const Tensor& in) { return conv(in); }, x);
  const Tensor before = RunGraph(graph, {x})[0];
  const auto result = Decompose(graph, {.parameters = 2.0 * 23 / 432, .tolerance = 0});
  ASSERT_EQ(result.layers.size(), 1U);
  EXPECT_EQ(result.layers[0].rank, 2);
  EXPECT_LT(result.layers[0].error, 1e-7);
  EXPECT_EQ(CountOf(graph, "conv2d"), 3);
  EXPECT_LT(Difference(RunGraph(graph, {x})[0], before), 1e-4);
}

TEST(DecomposeTest, ThreeWaysOfZerosAndOfOneRank) {
  const NoGradScope no_grad;
  const inner::internal::Cpd zeros =
      inner::internal::DecomposeThreeWays(Zeros({2, 3, 4}, DType::kF64), 2, 10, 1e-6, 0);
  EXPECT_EQ(zeros.error, 0);
  const auto& [u, v, w] = zeros.factors;
  EXPECT_TRUE(Einsum("ar,br,cr->abc", {u, v, w}).Equals(Zeros({2, 3, 4}, DType::kF64)));
  const Tensor x =
      Einsum("a,b,c->abc", {FromVector<double>({1, 2}, {2}), FromVector<double>({1, 2, 3}, {3}),
                            FromVector<double>({1, 2, 3, 4}, {4})});
  const inner::internal::Cpd one = inner::internal::DecomposeThreeWays(x, 1, 50, 1e-14, 1);
  EXPECT_LT(one.error, 1e-12);
  const auto& [a, b, c] = one.factors;
  EXPECT_LT(Difference(Einsum("ar,br,cr->abc", {a, b, c}), x), 1e-11);
}

TEST(DecomposeTest, LeavesWhatWouldNotBeSmaller) {
  nn::Linear fc({.in = 2, .out = 2});
  nn::Conv2d grouped({.in = 4, .out = 4, .kernel = 3, .padding = 1, .groups = 4});
  const Tensor x = Randn({1, 4, 2, 2});
  Graph graph = Captured([&](const Tensor& in) { return fc(grouped(in)); }, x);
  const std::string before = graph.DebugString();
  const auto result = Decompose(graph);
  EXPECT_TRUE(result.layers.empty());
  EXPECT_EQ(graph.DebugString(), before);
}

TEST(DecomposeTest, RefusesWhatMakesNoSense) {
  nn::Linear fc({.in = 12, .out = 8});
  const Tensor x = Randn({5, 12});
  Graph graph = Captured([&](const Tensor& in) { return fc(in); }, x);
  const auto error = [&](const DecomposeOptions& options) {
    return ErrorOf([&] { Decompose(graph, options); });
  };
  EXPECT_THAT(error({.parameters = 0}), HasSubstr("parameters must lie in (0, 1], got 0"));
  EXPECT_THAT(error({.iterations = 0}), HasSubstr("iterations must be 1 or more"));
  EXPECT_THAT(error({.tolerance = -1}), HasSubstr("must not be negative"));
  Graph trained = Capture(
                      [&](absl::Span<const Tensor> in) {
                        const Tensor loss = Sum(fc(in[0]));
                        loss.Backward();
                        return TensorList{loss};
                      },
                      {&x, 1})
                      .graph;
  EXPECT_THAT(ErrorOf([&] { Decompose(trained); }),
              HasSubstr("expected a graph without a backward pass"));
  const NoGradScope no_grad;
  Tensor(fc.parameters()[0]).Fill(1.0 / 0.0);
  EXPECT_THAT(error({}), HasSubstr("expected finite weights"));
}

}  // namespace
}  // namespace firn
