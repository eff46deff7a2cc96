// Weights that do not change are laid out once, and no bit of a result changes.

#include "firn/autograd/graph/pack_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/nn/conv.h"
#include "firn/nn/module.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/infer.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::ErrorOf;

struct Net : nn::Module {
  nn::Conv2d& first = Add<nn::Conv2d>("first", {.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::Conv2d& small = Add<nn::Conv2d>("small", {.in = 16, .out = 32, .kernel = 3, .padding = 1});
  nn::Conv2d& large =
      Add<nn::Conv2d>("large", {.in = 32, .out = 16, .kernel = 5, .padding = 2, .bias = false});
  nn::Conv2d& strided = Add<nn::Conv2d>("strided", {.in = 16, .out = 16, .kernel = 3, .stride = 2});
  Tensor Forward(const Tensor& x) { return strided(large(Relu(small(first(x))))); }
};

absl::StatusOr<StaticGraph> Compiled(Net& net, const CompileOptions& options) {
  const NoGradScope no_grad;
  const Tensor in[] = {Randn({8, 3, 12, 12})};
  return StaticGraph::Compile(
      Capture([&](absl::Span<const Tensor> x) { return TensorList{net.Forward(x[0])}; }, in).graph,
      options);
}

TEST(PackParametersTest, FrozenWeightsArePackedAndResultsStay) {
  Net net;
  auto packed = Compiled(net, {.constant_states = true}), plain = Compiled(net, {});
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(CountOf(plain->graph(), "conv2d_packed"), 0);
  EXPECT_EQ(CountOf(packed->graph(), "conv2d_packed"), 2) << packed->graph().DebugString();
  EXPECT_NE(packed->Explain().find("pack_parameters: 2"), std::string::npos) << packed->Explain();
  const NoGradScope no_grad;
  const int threads = NumThreads();
  for (int n : {threads, 1, threads + 1}) {
    SetNumThreads(n);
    const Tensor x = Randn({8, 3, 12, 12});
    EXPECT_TRUE((*packed)(x).Equals(net.Forward(x))) << n;
  }
  SetNumThreads(threads);
}

// The plain weights are given up, and runs need no room to transform them.
TEST(PackParametersTest, PlainWeightsGoAndScratchIsSmaller) {
  Net net;
  auto packed = Compiled(net, {.constant_states = true}), plain = Compiled(net, {});
  ASSERT_TRUE(packed.ok() && plain.ok());
  for (const Value& v : packed->graph().values) {
    EXPECT_NE(v.spec.shape, Shape({32, 16, 3, 3}));
    EXPECT_NE(v.spec.shape, Shape({16, 32, 5, 5}));
  }
  EXPECT_LT(packed->memory().arena_bytes, plain->memory().arena_bytes);
}

TEST(PackParametersTest, WhatWinogradDoesNotComputeStays) {
  Net net;
  net.To(DType::kF64);
  const NoGradScope no_grad;
  const Tensor in[] = {Randn({8, 3, 12, 12}).To(DType::kF64)};
  auto graph = StaticGraph::Compile(
      Capture([&](absl::Span<const Tensor> x) { return TensorList{net.Forward(x[0])}; }, in).graph,
      {.constant_states = true});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(graph->graph(), "conv2d_packed"), 0);
  EXPECT_TRUE((*graph)(in[0]).Equals(net.Forward(in[0])));
}

// Runs of a graph do not ask the shape rule; whoever makes such a call does.
TEST(PackParametersTest, APackedConvolutionRefusesWeightsOfAnotherSize) {
  Net net;
  auto packed = Compiled(net, {.constant_states = true});
  ASSERT_TRUE(packed.ok()) << packed.status();
  const Graph& graph = packed->graph();
  const auto instr = std::find_if(graph.instrs.begin(), graph.instrs.end(),
                                  [](const Instr& i) { return i.op->name == "conv2d_packed"; });
  ASSERT_NE(instr, graph.instrs.end());
  const Tensor weights = graph.value(instr->in[1]).bound;
  const Tensor x = Zeros({8, 16, 12, 12});
  const Tensor bias = Zeros({32});
  const AttrsRef attrs = instr->attrs.ref();
  EXPECT_EQ(Apply1(*instr->op, {x, weights, bias}, attrs).shape(), Shape({8, 32, 12, 12}));
  const Tensor half = Slice(weights, 0, 0, weights.num_elements() / 2);
  EXPECT_NE(ErrorOf([&] {
              Apply1(*instr->op, {x, half, bias}, attrs);
            }).find("packed weights ["),
            std::string::npos);
}

absl::Status DoNothing(KernelContext&) { return absl::OkStatus(); }

// Less is more of the negative.
absl::StatusOr<std::optional<PackedCall>> PackMinus(const KernelQuery&, const Kernel& kernel,
                                                    const Tensor& less) {
  if (kernel.run != DoNothing) return std::nullopt;
  const NoCaptureScope no_capture;
  return PackedCall{{&TheOp<"add">(), Attrs(AddAttrs{})}, -less};
}

constexpr GraphTraits kMinusTraits = {.packing = Packing{.input = 1, .pack = PackMinus}};

FIRN_REGISTER_OP(pack_test_minus) {
  return {.doc = "x - less, once it is packed.",
          .inputs = {{.name = "x"}, {.name = "less", .same_dtype_as = "x"}},
          .outputs = {{.name = "y"}},
          .infer = InferLikeInput,
          .kernels = {{.name = "loop", .run = DoNothing}},
          .graph = &kMinusTraits};
}

TEST(PackParametersTest, AnyOperationMaySayHowItsConstantsArePacked) {
  testing::GraphBuilder b;
  const ValueId x = b.Input({2, 3}), less = b.Constant(Full({2, 3}, 1.5));
  absl::StatusOr<Graph> graph = Lower(b.Build({b.Call("pack_test_minus", {x, less})}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const PassReport report = testing::RunPass(PackParameters, *graph);
  EXPECT_EQ(report.changes, 1);
  EXPECT_EQ(testing::OpsOf(*graph), "add");
  const Tensor in = Randn({2, 3});
  EXPECT_TRUE(testing::RunGraph(*graph, {&in, 1})[0].Equals(in - 1.5));
}

}  // namespace
}  // namespace firn
