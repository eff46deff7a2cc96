// One operation that sums bytes and converts the sums gives the bits of the separate operations.

#include "firn/autograd/graph/finish_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/nn/conv.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::RunGraph;
using testing::RunPass;

// Whether sums use the kernel that only some processors have.
bool HasBytes(const Graph& graph) {
  const Graph lowered = Lower(graph).value();
  return std::any_of(lowered.instrs.begin(), lowered.instrs.end(), [](const Instr& instr) {
    return instr.op == &TheOp<"int_conv2d">() && instr.kernel->name == "bytes";
  });
}

template <class F>
Graph Quantized(const F& f, const Tensor& x, const QuantizeGraphOptions& options = {}) {
  const NoGradScope no_grad;
  const auto fn = [&](absl::Span<const Tensor> in) { return f(in[0]); };
  return Quantize(Capture(fn, {&x, 1}).graph, {{x}}, options).value();
}

void ExpectSameBits(const Graph& graph, const Tensor& x, const TensorList& want) {
  StaticGraph frozen = StaticGraph::Compile(graph).value();
  const int threads = NumThreads();
  for (const int n : {threads, 1, threads + 1}) {
    SetNumThreads(n);
    const TensorList got = frozen.Call({&x, 1});
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].Equals(want[i])) << n << " " << i;
  }
  SetNumThreads(threads);
}

// Expects that the changed graph has `finished` such operations and `left` sums by themselves, and
// gives the bits of the unchanged one with any number of threads.
void ExpectSame(const Graph& graph, const Tensor& x, int finished, int left) {
  const NoGradScope no_grad;
  const TensorList want = RunGraph(graph, {&x, 1});
  Graph changed = graph;
  RunPass(FinishSums, changed);
  if (HasBytes(graph)) {
    EXPECT_EQ(CountOf(changed, "finished_conv2d"), finished) << changed.DebugString();
    EXPECT_EQ(CountOf(changed, "int_conv2d"), left);
  }
  ExpectSameBits(graph, x, want);
}

// A stem, a unit with a convolution in its shortcut, and one without.
struct Net : nn::Module {
  nn::Conv2d& stem = Add<nn::Conv2d>("stem", {.in = 3, .out = 32, .kernel = 5, .padding = 2});
  nn::Conv2d& a =
      Add<nn::Conv2d>("a", {.in = 32, .out = 48, .kernel = 3, .stride = 2, .padding = 1});
  nn::Conv2d& b = Add<nn::Conv2d>("b", {.in = 48, .out = 48, .kernel = 3, .padding = 1});
  nn::Conv2d& shortcut =
      Add<nn::Conv2d>("shortcut", {.in = 32, .out = 48, .kernel = 1, .stride = 2, .bias = false});
  nn::Conv2d& c =
      Add<nn::Conv2d>("c", {.in = 48, .out = 48, .kernel = 3, .padding = 1, .groups = 3});
  nn::Conv2d& d =
      Add<nn::Conv2d>("d", {.in = 48, .out = 48, .kernel = 3, .padding = 2, .dilation = 2});
  TensorList Forward(const Tensor& x) {
    const ValuesAndIndices pooled =
        MaxPool2dWithIndices(Relu(stem(x)), {.kernel = 3, .stride = 2, .padding = 1});
    const Tensor& h = pooled.values;
    const Tensor unit = Relu(b(Relu(a(h))) + shortcut(h));
    return {Mean(Relu(unit + d(Tanh(c(unit)))), {2, 3}), pooled.indices};
  }
};

TEST(FinishSumsTest, ANetworkKeepsItsBits) {
  Net net;
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    for (const int64_t batch : {1, 6}) {
      const Tensor x = Randn({batch, 3, 21, 18});
      const auto forward = [&](const Tensor& t) { return net.Forward(t); };
      ExpectSame(Quantized(forward, x, {.dtype = dtype}), x, 6, 0);
    }
  }
}

// Sums that f32 does not count, images of one pixel and one channel, and more channels than a tile
// of them has.
TEST(FinishSumsTest, LargeSumsAndOddShapes) {
  nn::Conv2d wide({.in = 256, .out = 4, .kernel = 3, .padding = 1});
  nn::Conv2d many({.in = 4, .out = 700, .kernel = 1});
  nn::Conv2d one({.in = 700, .out = 1, .kernel = 3, .bias = false});
  nn::Conv2d last({.in = 1, .out = 3, .kernel = 2});
  {
    const NoGradScope no_grad;
    wide.parameters()[0].Fill(0.5);
  }
  const Tensor x = Concat({Rand({2, 256, 4, 4}) + 3.0, Zeros({1, 256, 4, 4})}, 0);
  const auto forward = [&](const Tensor& t) {
    return TensorList{last(one(Relu(many(wide(t)))) * Ones({1, 1, 2, 2}))};
  };
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    ExpectSame(Quantized(forward, x, {.dtype = dtype}), x, 4, 0);
  }
}

// Some of oneDNN's kernels are wrong about the zero points of these groups, and some round sums of
// 1x1 windows on the way, in one version or another. oneDNN decides which of them run.
TEST(FinishSumsTest, WhateverKernelsThereAre) {
  nn::Conv2d groups({.in = 128, .out = 30, .kernel = 1, .padding = 1, .groups = 2});
  nn::Conv2d windows({.in = 1024, .out = 4, .kernel = 1});
  {
    const NoGradScope no_grad;
    windows.parameters()[0].Fill(0.5);
  }
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    for (nn::Conv2d* conv : {&groups, &windows}) {
      const Tensor x = Rand({2, conv == &groups ? 128 : 1024, 5, 4}) - 0.1;
      const auto forward = [&](const Tensor& t) { return TensorList{(*conv)(t)}; };
      const Graph graph = Quantized(forward, x, {.dtype = dtype});
      const NoGradScope no_grad;
      ExpectSameBits(graph, x, RunGraph(graph, {&x, 1}));
    }
  }
}

TEST(FinishSumsTest, NumbersThatOthersReadStay) {
  nn::Conv2d a({.in = 8, .out = 8, .kernel = 3, .padding = 1});
  nn::Conv2d b({.in = 8, .out = 8, .kernel = 1});
  const Tensor x = Randn({2, 8, 6, 5});
  const auto forward = [&](const Tensor& t) {
    const Tensor sums = a(t), twice = b(sums);
    return TensorList{sums, Relu(sums), twice + twice, Tanh(sums)};
  };
  ExpectSame(Quantized(forward, x), x, 2, 0);
}

// What is added is read before it changes; the operation would run after that.
TEST(FinishSumsTest, WhatChangesInBetweenIsNotTaken) {
  nn::Conv2d a({.in = 8, .out = 8, .kernel = 3, .padding = 1});
  const Tensor x = Randn({2, 8, 6, 5});
  const auto forward = [&](const Tensor& t) {
    Tensor h = t * 2.0;
    const Tensor sum = a(t) + h;
    h.Fill(1);
    return TensorList{Relu(sum), h};
  };
  ExpectSame(Quantized(forward, x), x, 0, 1);
}

}  // namespace
}  // namespace firn
