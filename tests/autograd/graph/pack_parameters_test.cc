// Weights that do not change are laid out once, and no bit of a result changes.

#include "firn/autograd/graph/pack_parameters.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/profile.h"
#include "firn/device/cpu.h"
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

// `graph` gives the bits of `forward`, also with other numbers of threads than it was compiled
// with.
template <class F>
void ExpectSameWithAnyThreads(StaticGraph& graph, const Shape& shape, F forward,
                              DType dtype = DType::kF32) {
  const NoGradScope no_grad;
  const int threads = NumThreads();
  for (int n : {threads, 1, threads + 1}) {
    SetNumThreads(n);
    const Tensor x = Randn(shape).To(dtype);
    EXPECT_TRUE(graph(x).Equals(forward(x))) << n;
  }
  SetNumThreads(threads);
}

TEST(PackParametersTest, FrozenWeightsArePackedAndResultsStay) {
  Net net;
  auto packed = Compiled(net, {.constant_states = true}), plain = Compiled(net, {});
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(CountOf(plain->graph(), "conv_packed"), 0);
  EXPECT_EQ(CountOf(packed->graph(), "conv_packed"), 4) << packed->graph().DebugString();
  EXPECT_NE(packed->Explain().find("pack_parameters: 4"), std::string::npos) << packed->Explain();
  ExpectSameWithAnyThreads(*packed, {8, 3, 12, 12},
                           [&](const Tensor& x) { return net.Forward(x); });
}

TEST(PackParametersTest, ProfilesCountWhatThePlainConvolutionsCompute) {
  Net net;
  const auto flop_of = [](StaticGraph graph) {
    double sum = 0;
    for (const Profile::Row& row : ProfileGraph(graph, {Randn({8, 3, 12, 12})}, 1).rows) {
      sum += row.flop.value_or(0);
    }
    return sum;
  };
  const double plain = flop_of(*Compiled(net, {}));
  EXPECT_GT(plain, 1e6);
  EXPECT_EQ(flop_of(*Compiled(net, {.constant_states = true})), plain);
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

// Every kind of convolution that oneDNN computes, and the kernel's name after packing.
struct Kind {
  const char* packed;
  Shape x, weight;
  Tensor (*call)(const Tensor& x, const Tensor& weight);
};

std::vector<Kind> Kinds() {
  const auto conv2d = [](const Tensor& x, const Tensor& w) { return Conv2d(x, w, {}); };
  return {
      {"conv_packed", {2, 32, 9, 9}, {48, 32, 1, 1}, conv2d},
      {"conv_packed",
       {2, 32, 9, 9},
       {64, 16, 3, 3},
       [](const Tensor& x, const Tensor& w) { return Conv2d(x, w, {}, {.groups = 2}); }},
      {"conv_packed",
       {2, 32, 9, 9},
       {32, 1, 3, 3},
       [](const Tensor& x, const Tensor& w) { return Conv2d(x, w, {}, {.groups = 32}); }},
      {"conv_packed",
       {2, 32, 20},
       {16, 32, 3},
       [](const Tensor& x, const Tensor& w) { return Conv1d(x, w, {}); }},
      {"conv_packed",
       {2, 16, 5, 6, 7},
       {32, 16, 2, 3, 3},
       [](const Tensor& x, const Tensor& w) { return Conv3d(x, w, {}, {.stride = 2}); }},
      {"conv_transpose_packed",
       {2, 32, 5, 6},
       {32, 16, 2, 2},
       [](const Tensor& x, const Tensor& w) { return ConvTranspose2d(x, w, {}, {.stride = 2}); }},
  };
}

// The name of the kernel of the graph's convolution.
std::string_view KernelOf(const StaticGraph& graph) {
  for (const Instr& instr : graph.graph().instrs) {
    if (instr.op->name.starts_with("conv")) return instr.kernel->name;
  }
  return "";
}

TEST(PackParametersTest, EveryConvolutionOfOneDnnIsPackedInEveryTypeThatItComputes) {
  const NoGradScope no_grad;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const Kind& kind : Kinds()) {
      SCOPED_TRACE(kind.weight.ToString() + " " + std::string(DTypeName(dtype)));
      const Tensor weight = Randn(kind.weight).To(dtype);
      const auto forward = [&](const Tensor& x) { return kind.call(x, weight); };
      const Tensor x = Randn(kind.x).To(dtype);
      StaticGraph graph = Freeze({.constant_states = true}, forward, x);
      // Firn has a loop of its own for single channels in f16, oneDNN not every kind without AVX2.
      const std::string_view kernel = KernelOf(Freeze(forward, x));
      const int want = kernel == "onednn" || kernel == "in_f32" ? 1 : 0;
      EXPECT_EQ(CountOf(graph.graph(), kind.packed), want) << graph.graph().DebugString();
      ExpectSameWithAnyThreads(graph, kind.x, forward, dtype);
    }
  }
}

// With AMX, oneDNN 2.6 lays these weights out in other ways for 1, 2 and 3 threads.
TEST(PackParametersTest, WeightsPackedForOtherThreadsAreRead) {
  const NoGradScope no_grad;
  const int threads = NumThreads();
  for (const Shape& image : {Shape({1, 64, 3, 3}), Shape({1, 64, 7, 7})}) {
    const Tensor weight = Randn({64, 64, 1, 1}).To(DType::kBF16);
    const Tensor x = Randn(image).To(DType::kBF16);
    const auto forward = [&](const Tensor& in) { return Conv2d(in, weight, {}); };
    for (const int packed : {1, 2, 16}) {
      SetNumThreads(packed);
      StaticGraph graph = Freeze({.constant_states = true}, forward, x);
      for (const int n : {1, 2, 3, 16}) {
        SetNumThreads(n);
        EXPECT_TRUE(graph(x).Equals(forward(x))) << image << " " << packed << " then " << n;
      }
    }
  }
  SetNumThreads(threads);
}

TEST(PackParametersTest, WhatTakesPlainWeightsStays) {
  Net net;
  net.To(DType::kF64);
  const NoGradScope no_grad;
  const Tensor in[] = {Randn({8, 3, 12, 12}).To(DType::kF64)};
  auto graph = StaticGraph::Compile(
      Capture([&](absl::Span<const Tensor> x) { return TensorList{net.Forward(x[0])}; }, in).graph,
      {.constant_states = true});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(graph->graph(), "conv_packed"), 0);
  EXPECT_TRUE((*graph)(in[0]).Equals(net.Forward(in[0])));
}

// Runs of a graph do not ask the shape rule; the code that makes such a call does.
TEST(PackParametersTest, APackedConvolutionRefusesWeightsOfAnotherSize) {
  Net net;
  auto packed = Compiled(net, {.constant_states = true});
  ASSERT_TRUE(packed.ok()) << packed.status();
  const Graph& graph = packed->graph();
  int found = 0;
  for (const Instr& instr : graph.instrs) {
    if (instr.op->name != "conv_packed") continue;
    ++found;
    const Shape& y = graph.value(instr.out[0]).spec.shape;
    const Tensor weights = graph.value(instr.in[1]).bound;
    const Tensor x = Zeros(graph.value(instr.in[0]).spec.shape), bias = Zeros({y[1]});
    const AttrsRef attrs = instr.attrs.ref();
    EXPECT_EQ(Apply1(*instr.op, {x, weights, bias}, attrs).shape(), y);
    const Tensor half = Slice(weights, 0, 0, weights.num_elements() / 2);
    EXPECT_NE(ErrorOf([&] {
                Apply1(*instr.op, {x, half, bias}, attrs);
              }).find("packed weights u8 ["),
              std::string::npos);
  }
  EXPECT_EQ(found, 4);  // of Winograd's and oneDNN's
}

// The constant inputs `i` of the operations with this name.
std::vector<Tensor> ConstantsOf(const Graph& graph, std::string_view op, size_t i) {
  std::vector<Tensor> constants;
  for (const Instr& instr : graph.instrs) {
    if (instr.op->name == op) constants.push_back(graph.value(instr.in[i]).bound);
  }
  return constants;
}

// Whether products of f32 gain from longer lines: with registers of 32 bytes, and no tiles.
bool SpreadsLines() { return KernelLevel() == 3 && !ThisCpu().bfloat_tiles; }

// Weights of products, by rows and by columns: of lines a multiple of 2 KiB long, which a product
// would copy, or of 128 bytes. The others stay: of few rows, of other lines, in other types, or
// already with longer lines.
TEST(PackParametersTest, LinesOfConstantFactorsAreSpreadOnce) {
  const NoGradScope no_grad;
  const auto spread = [](const Tensor& weight, bool transpose, int64_t rows) {
    const int64_t width = weight.shape()[transpose ? 1 : 0];
    const auto forward = [&](const Tensor& x) { return Matmul(x, weight, false, transpose); };
    const Shape shape({1, rows, width});
    StaticGraph graph = Freeze({.constant_states = true}, forward, Randn(shape).To(weight.dtype()));
    ExpectSameWithAnyThreads(graph, shape, forward, weight.dtype());
    const std::vector<Tensor> constants = ConstantsOf(graph.graph(), "matmul", 1);
    EXPECT_EQ(constants.size(), 1u);
    const auto& strides = constants[0].spec().layout.strides;
    return strides[0] == weight.shape()[1] + 16 && strides[1] == 1;
  };
  EXPECT_EQ(spread(Randn({64, 96}), false, 40), SpreadsLines());
  EXPECT_EQ(spread(Randn({1300, 512}), false, 50), SpreadsLines());
  EXPECT_EQ(spread(Randn({96, 1024}), true, 50), SpreadsLines());
  EXPECT_FALSE(spread(Randn({96, 96}), true, 50));
  EXPECT_FALSE(spread(Randn({64, 96}), false, 31));
  EXPECT_FALSE(spread(Randn({64, 80}), false, 40));
  EXPECT_FALSE(spread(Randn({64, 112}), false, 40));
  EXPECT_FALSE(spread(Randn({64, 96}).To(DType::kF64), false, 40));
  EXPECT_FALSE(spread(Randn({64, 96}).To(DType::kBF16), false, 40));
}

// Runs copy nothing, the plain weight is given up, and two layers with one weight share its form.
TEST(PackParametersTest, LayersWithOneWeightShareItsSpreadLines) {
  const NoGradScope no_grad;
  const Tensor weight = Randn({512, 512}), bias = Randn({512});
  const auto forward = [&](const Tensor& x) {
    return Linear(Tanh(Linear(x, weight, bias)), weight);
  };
  const Tensor x = Randn({50, 512});
  StaticGraph graph = Freeze({.constant_states = true}, forward, x);
  ExpectSameWithAnyThreads(graph, x.shape(), forward);
  const std::vector<Tensor> weights = ConstantsOf(graph.graph(), "linear", 1);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_TRUE(weights[0].Is(weights[1]));
  if (!SpreadsLines()) return;
  EXPECT_EQ(weights[0].spec().layout.strides[0], 528);
  for (const Value& v : graph.graph().values) {
    EXPECT_FALSE(v.spec.shape == weight.shape() && v.spec.dense()) << v.spec;
  }
}

// A parameter that a run may find changed is read where it is.
TEST(PackParametersTest, FactorsThatAreNoConstantsStay) {
  const NoGradScope no_grad;
  Tensor weight = Randn({512, 512});
  const auto forward = [&](const Tensor& x) { return Linear(x, weight); };
  const Tensor x = Randn({50, 512});
  StaticGraph graph = Freeze({}, forward, x);
  weight.CopyFrom(Randn({512, 512}));
  EXPECT_TRUE(graph(x).Equals(forward(x)));
}

absl::Status DoNothing(KernelContext&) { return absl::OkStatus(); }

// Packs `x - less` as `x + (-less)`.
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
