// Convolutional networks whose images are NHWC on a CUDA device from the first convolution to the
// last operation that knows images, ordinary and frozen, against the CPU.
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/context.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/logsumexp.h"
#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/precision.h"
#include "gtest/gtest.h"
#include "tests/autograd/graph/training.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

struct Net : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 3, .out = 8, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& norm = Add<nn::BatchNorm2d>("norm", {.channels = 8});
  nn::Conv2d& conv2 =
      Add<nn::Conv2d>("conv2", {.in = 8, .out = 8, .kernel = 3, .padding = 1, .groups = 2});
  nn::Conv2d& conv3 = Add<nn::Conv2d>("conv3", {.in = 8, .out = 12, .kernel = 1});
  nn::Linear& last = Add<nn::Linear>("last", {.in = 12, .out = 5});

  Tensor Features(const Tensor& x) {
    const Tensor y = MaxPool2d(Relu(norm(conv1(x))), {.kernel = 3, .stride = 2, .padding = 1});
    return Relu(conv3(firn::Add(y, Relu(conv2(y)))));
  }
  Tensor Forward(const Tensor& x) {
    return last(Flatten(AvgPool2d(Features(x), {.kernel = 4}), 1));
  }
};

struct Trainer : testing::Training<Net, optim::Sgd> {
  explicit Trainer(Device device)
      : Training({.lr = 0.1, .momentum = 0.9}, device),
        batch(testing::Batches(1, {6, 3, 8, 8}, 5)[0]) {
    batch = {batch.x.To(device), batch.labels.To(device)};
  }
  double Loss() { return Step(batch).Item(); }

  testing::Batch batch;
};

bool IsNhwc(const Tensor& t) { return t.spec().layout.channel_block == t.shape()[1]; }

// "reorder" operations of the graph.
int Reorders(const StaticGraph& graph) {
  int count = 0;
  for (const Instr& instr : graph.graph().instrs) count += instr.op->name == "reorder" ? 1 : 0;
  return count;
}

class CudaNhwcTest : public testing::CudaTest {
 protected:
  // A GPU rounds what it multiplies to TF32.
  double Allowance() const { return fake_ != nullptr ? 1e-4 : 3e-2; }
};

TEST_F(CudaNhwcTest, ImagesStayNhwc) {
  Trainer t(device_);
  const NoGradScope no_grad;
  const Tensor first = t.net->conv1(t.batch.x);
  EXPECT_TRUE(IsNhwc(first)) << first.spec();
  const Tensor normed = t.net->norm(first);
  EXPECT_TRUE(IsNhwc(normed)) << normed.spec();
  const Tensor pooled = MaxPool2d(Relu(normed), 2);
  EXPECT_TRUE(IsNhwc(pooled)) << pooled.spec();
  EXPECT_TRUE(IsNhwc(firn::Add(pooled, pooled)));
  EXPECT_TRUE(IsNhwc(AvgPool2d(pooled, {.kernel = 2})));
  // One pixel is row-major whichever way it is read.
  EXPECT_TRUE(AvgPool2d(pooled, {.kernel = 4}).spec().layout.contiguous);
}

TEST_F(CudaNhwcTest, StrictF32StaysRowMajor) {
  Trainer t(device_);
  SetConvMath(F32Math::kStrict);
  EXPECT_TRUE(t.net->conv1(t.batch.x).spec().layout.contiguous);
  SetConvMath(F32Math::kTf32);
  EXPECT_TRUE(IsNhwc(t.net->conv1(t.batch.x)));
}

TEST_F(CudaNhwcTest, TrainsAsTheCpuDoes) {
  Trainer here{Device::Cpu()}, there{device_};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(there.Loss(), here.Loss(), Allowance()) << "step " << i;
  }
}

TEST_F(CudaNhwcTest, FrozenStepsTurnImagesOnceAndWeightsOnceEach) {
  Trainer plain{device_}, frozen{device_};
  StaticGraph step = frozen.FrozenStep(frozen.batch);
  plain.Loss();
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(step(frozen.batch.x, frozen.batch.labels).Item(), plain.Loss(),
                fake_ != nullptr ? 1e-6 : Allowance());
  }
  // The images, and the 3x3 weights: a 1x1 kernel is one pixel. The backward pass uses those of the
  // forward pass. On a GPU there are more if cuDNN has no engine for NHWC.
  if (fake_ != nullptr) {
    EXPECT_EQ(Reorders(step), 3) << step.Explain();
  }
}

TEST_F(CudaNhwcTest, FrozenWeightsAreTurnedWhenCompiled) {
  Trainer t(device_);
  t.net->Eval();
  const NoGradScope no_grad;
  const Tensor want = t.net->Forward(t.batch.x);
  const auto forward = [&](absl::Span<const Tensor> x) { return TensorList{t.net->Forward(x[0])}; };
  auto net =
      StaticGraph::Compile(Capture(forward, {&t.batch.x, 1}).graph, {.constant_states = true});
  ASSERT_TRUE(net.ok()) << net.status();
  EXPECT_EQ(Reorders(*net), 1) << net->Explain();
  const std::vector<float> got = (*net)(t.batch.x).To(Device::Cpu()).ToVector<float>();
  const std::vector<float> expected = want.To(Device::Cpu()).ToVector<float>();
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], Allowance());
}

TEST_F(CudaNhwcTest, ReductionsReadImagesAsTheyAre) {
  Trainer t(device_);
  const NoGradScope no_grad;
  t.net->Eval();
  const auto forward = [&](absl::Span<const Tensor> x) {
    const Tensor y = t.net->Features(x[0]);
    return TensorList{Mean(y, {2, 3}), Var(y, {1}), Norm(y), Logsumexp(y, {0, 2, 3})};
  };
  auto net =
      StaticGraph::Compile(Capture(forward, {&t.batch.x, 1}).graph, {.constant_states = true});
  ASSERT_TRUE(net.ok()) << net.status();
  EXPECT_EQ(Reorders(*net), 1) << net->Explain();  // the images that come in
}

}  // namespace
}  // namespace firn
