// Chains of elementwise operations on a CUDA device: on a GPU compiled by NVRTC, on the stand-in
// run step by step; either way no bit changes.
#include <cstring>
#include <string>
#include <vector>

#include "firn/autograd/graph/fuse_elementwise.h"
#include "firn/autograd/graph/in_place.h"
#include "firn/autograd/graph/passes/fold_constants.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cuda/chain_source.h"
#include "firn/tensor/op.h"
#include "firn/tensor/rng.h"
#include "gtest/gtest.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::OpsOf;

class CudaChainsTest : public testing::CudaTest {
 protected:
  template <class F>
  Graph Lowered(F fn, absl::Span<const Tensor> in) {
    const NoGradScope no_grad;
    Graph captured =
        Capture([&](absl::Span<const Tensor> x) { return internal::AsList(fn(x)); }, in).graph;
    EXPECT_TRUE(FoldConstants(captured).ok());  // numbers are filled on the device otherwise
    Graph graph = *Lower(captured);
    RaiseIfError(MarkInPlace(graph).status(), "in_place");
    return graph;
  }

  // Twice: the first run must leave nothing behind.
  TensorList RunTwice(const Graph& graph, absl::Span<const Tensor> in) {
    auto executor = Executor::Make(graph);
    EXPECT_TRUE(executor.ok()) << executor.status();
    TensorList out;
    for (ValueId id : graph.outputs) {
      const TensorSpec& spec = graph.value(id).spec;
      out.push_back(Empty(spec.shape, spec.dtype).To(device_));
    }
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = (*executor)->Run(in, out);
      EXPECT_TRUE(status.ok()) << status;
    }
    for (Tensor& t : out) t = t.To(Device::Cpu());
    return out;
  }

  // The fused graph, which gives the bits of the plain one.
  template <class F>
  Graph ExpectSameBits(F fn, absl::Span<const Tensor> in) {
    const Graph plain = Lowered(fn, in);
    Graph fused = plain;
    const absl::StatusOr<PassReport> report = FuseElementwise(fused);
    EXPECT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(fused.Verify().ok()) << fused.Verify();
    const TensorList want = RunTwice(plain, in), got = RunTwice(fused, in);
    EXPECT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(std::memcmp(got[i].impl()->data, want[i].impl()->data, want[i].spec().bytes()), 0)
          << "result " << i << " of " << OpsOf(fused);
    }
    return fused;
  }

  Tensor Random(const Shape& shape, DType dtype = DType::kF32) {
    return Randn(shape).To(dtype).To(device_);
  }
};

TEST_F(CudaChainsTest, AChainBecomesOneOperation) {
  const Tensor in[] = {Random({7, 43}), Random({7, 43})};
  const Graph fused = ExpectSameBits(
      [](absl::Span<const Tensor> x) { return Tanh(x[0] * x[1] + 0.5) * Sigmoid(x[0]); }, in);
  EXPECT_EQ(OpsOf(fused), "elementwise_program");
  EXPECT_EQ(fused.instrs[0].out.size(), 1u);
}

TEST_F(CudaChainsTest, WhatIsReadElsewhereIsAResult) {
  const Tensor in[] = {Random({1000}), Random({})};
  const Graph fused = ExpectSameBits(
      [](absl::Span<const Tensor> x) {
        const Tensor y = Exp(x[0]), z = y * x[1], s = Sum(z);  // by a single element
        return TensorList{Relu(z - y), s, y};
      },
      in);
  EXPECT_EQ(OpsOf(fused), "elementwise_program sum elementwise_program");
  EXPECT_EQ(fused.instrs[0].out.size(), 2u);
}

TEST_F(CudaChainsTest, EveryDtypeIsRoundedOnTheWay) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const Tensor in[] = {Random({123}, dtype), Random({123}, dtype)};
    const Graph fused = ExpectSameBits(
        [](absl::Span<const Tensor> x) {
          const Tensor y = Where(Gt(x[0], x[1]), Exp(x[0]) * x[1], x[1] / 3);
          return Clamp(Gelu(y), {}, x[1]).To(DType::kF32) * 2;
        },
        in);
    EXPECT_EQ(CountOf(fused, "elementwise_program"), 1) << OpsOf(fused);
    EXPECT_EQ(fused.instrs.size(), 1u) << OpsOf(fused);
  }
}

TEST_F(CudaChainsTest, ResultsMayLieOverArguments) {
  const Tensor in[] = {Random({64, 64})};
  const Graph fused = ExpectSameBits(
      [](absl::Span<const Tensor> x) {
        const Tensor a = Cumsum(x[0], 0);  // a temporary
        return Cumsum(Exp(a * 0.01) + a, 0);
      },
      in);
  EXPECT_EQ(OpsOf(fused), "cumsum elementwise_program cumsum");
}

TEST_F(CudaChainsTest, LongChainsAreCut) {
  const Tensor in[] = {Random({100})};
  const Graph fused = ExpectSameBits(
      [](absl::Span<const Tensor> x) {
        Tensor y = x[0];
        for (int i = 0; i < 15; ++i) y = Sin(y) + x[0];
        return y;
      },
      in);
  EXPECT_EQ(CountOf(fused, "elementwise_program"), 3) << OpsOf(fused);
}

TEST_F(CudaChainsTest, FrozenTrainingStepsHaveThem) {
  Tensor w = Random({500}).SetRequiresGrad();
  const auto step = [&w](const Tensor& x) {
    w.ZeroGrad();
    const Tensor loss = Sum(Tanh(w * x) * Sigmoid(w));
    loss.Backward();
    return loss;
  };
  const Tensor x = Random({500});
  StaticGraph graph = Freeze(step, x);
  EXPECT_GE(CountOf(graph.graph(), "elementwise_program"), 2) << graph.graph().DebugString();
  EXPECT_NE(graph.Explain().find("fuse_elementwise"), std::string::npos);
  for (int i = 0; i < 3; ++i) {  // the last ones are recorded
    const Tensor loss = graph(x), gradient = w.grad().Clone();
    EXPECT_EQ(step(x).Item(), loss.Item());
    EXPECT_TRUE(w.grad().To(Device::Cpu()).Equals(gradient.To(Device::Cpu())));
  }
  EXPECT_GT(graph.device_graph_runs(), 0);
}

TEST_F(CudaChainsTest, WithoutACompilerOperationsRunOneByOneAndItIsSaidOnce) {
  if (!fake_) GTEST_SKIP() << "only the stand-in fails when told to";
  const Tensor in[] = {Random({100})};
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    fake_->FailCall("CompileKernel", 1, FakeCuda::kInvalidValue);
    const Graph fused =
        ExpectSameBits([](absl::Span<const Tensor> x) { return Exp(Sin(x[0])); }, in);
    EXPECT_EQ(OpsOf(fused), "sin exp");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "firn: elementwise operations of frozen graphs run one by one on cuda:0: "
            "cudaErrorInvalidValue: invalid argument: told to fail\n");
}

// The arguments that ChainSource describes, for a chain with two pointers.
struct Arguments {
  const float* x;
  float* y;
  int64_t n;
  uint32_t zero;
  alignas(16) double slope;
};

// leaky_relu and neg, as the compiled kernel would compute them.
void NegatedLeakyRelu(const void* argument) {
  const auto& a = *static_cast<const Arguments*>(argument);
  const auto slope = static_cast<float>(a.slope);
  for (int64_t i = 0; i < a.n; ++i) {
    const float x = a.zero == 0 ? a.x[i] : 0;
    a.y[i] = -(x < 0 ? slope * x : x);
  }
}

TEST_F(CudaChainsTest, ACompiledKernelGetsItsArguments) {
  if (!fake_) GTEST_SKIP() << "a GPU runs no host functions";
  int compiled = 0;
  fake_->SetCompiler([&compiled](const internal::CudaSource&) {
    ++compiled;
    return NegatedLeakyRelu;
  });
  for (double slope : {-0.5, 0.25}) {
    const Tensor in[] = {Random({1000})};
    const Graph fused = ExpectSameBits(
        [slope](absl::Span<const Tensor> x) { return Neg(LeakyRelu(x[0], slope)); }, in);
    EXPECT_EQ(OpsOf(fused), "elementwise_program");
  }
  EXPECT_EQ(compiled, 1) << "the slope is no part of the source";
}

// The text does not contain the difference between two calls of one operation, so it is compiled
// once.
TEST_F(CudaChainsTest, AttributesAndShapesAreNotInTheText) {
  const auto source = [&](int64_t size, double slope) {
    const Tensor in[] = {Random({size})};
    Graph graph =
        Lowered([slope](absl::Span<const Tensor> x) { return Tanh(LeakyRelu(x[0], slope)); }, in);
    EXPECT_TRUE(FuseElementwise(graph).ok());
    const auto& attrs = graph.instrs[0].attrs.ref().get<internal::ElementwiseProgramAttrs>();
    return *cuda::MakeChainSource(*attrs.program);
  };
  const cuda::ChainSource a = source(10, 0.25), b = source(2000, 0.5);
  EXPECT_EQ(a.source.text, b.source.text);
  EXPECT_NE(a.functors, b.functors);
}

}  // namespace
}  // namespace firn
