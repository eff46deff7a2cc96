// A run takes no memory from any heap.

#include <gtest/gtest.h>

#include <new>

#include "firn/autograd/graph/static_graph.h"
#include "firn/optim/adam.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/graph/training.h"
#include "tests/count_allocations.h"

namespace firn {
namespace {

using testing::Batch;

TEST(RunAllocatesNothingTest, TheCounterCounts) {
  const int64_t allocations = testing::AllocationsIn([] {
    int* volatile made = new int(1);
    void* volatile aligned = ::operator new(64, std::align_val_t(64));
    ::operator delete(aligned, std::align_val_t(64));
    delete made;
  });
  EXPECT_GE(allocations, 2);
}

// The number of allocations in the second and later runs; the first may set things up (threads,
// tables of libraries).
void ExpectNone(StaticGraph graph, absl::Span<const Tensor> in) {
  TensorList out(1);
  absl::Status status = graph.Run(in, absl::MakeSpan(out));
  ASSERT_TRUE(status.ok()) << status;
  for (int i = 0; i < 3; ++i) {
    const int64_t allocations =
        testing::AllocationsIn([&] { status = graph.Run(in, absl::MakeSpan(out)); });
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(allocations, 0) << "in run " << i;
  }
}

// Kernels of one loop each, so that only the executor's own work could allocate.
TEST(RunAllocatesNothingTest, ElementwiseOperations) {
  Tensor total = Zeros({64});
  const Tensor in[] = {Randn({64})};
  ExpectNone(Freeze(
                 [&total](const Tensor& x) {
                   total.CopyFrom(total + Exp(x));
                   return Tanh(total) * x;
                 },
                 in[0]),
             in);
}

// Operations that Firn's own kernels compute. (oneDNN, which takes other convolutions and large
// products of matrices, makes small objects of its own in each call.)
struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 16, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn = Add<nn::BatchNorm2d>("bn", {.channels = 16});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.25});
  Tensor Forward(const Tensor& x) { return Mean(MaxPool2d(drop(Relu(bn(conv(x)))), 2), {2, 3}); }
};

// Convolution, batch norm, dropout, loss, backward, Adam.
TEST(RunAllocatesNothingTest, ATrainingStep) {
  testing::Training<Net, optim::Adam> training({.lr = 1e-2});
  const Batch batch = testing::Batches(1, {4, 16, 8, 8}, 16)[0];
  const Tensor in[] = {batch.x, batch.labels};
  ExpectNone(training.FrozenStep(batch), in);
}

}  // namespace
}  // namespace firn
