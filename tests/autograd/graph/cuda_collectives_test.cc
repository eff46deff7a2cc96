// Collective operations on memory of devices, eager and in frozen graphs: ranks are threads, each
// with a device of a stand-in for CUDA. Uses only operations whose kernels every build has.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/comm/groups.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/tensor.h"
#include "tests/device/comm/fake_nccl.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

using comm::Communicator;
using comm::Reduction;

// x + rank in all elements, on the rank's device.
Tensor There(const Communicator& world, double x) {
  return Full({2, 3}, x + world.rank()).To(Device::Cuda(world.rank()));
}
// Whether all elements are `x`.
bool Is(const Tensor& t, double x) {
  return t.To(Device::Cpu()).Equals(Full(t.shape(), x, t.dtype()));
}

class CudaCollectivesTest : public ::testing::TestWithParam<FakeCuda::Others> {
 protected:
  CudaCollectivesTest() { cuda_.set_others(GetParam()); }

  FakeCuda cuda_{3};
  const inner::internal::ScopedCudaApi scope_{cuda_};
  comm::FakeNccl nccl_{cuda_};
};
INSTANTIATE_TEST_SUITE_P(LateAndEarly, CudaCollectivesTest,
                         ::testing::Values(FakeCuda::Others::kLate, FakeCuda::Others::kEarly));

TEST_P(CudaCollectivesTest, GiveWhatThoseOfTheHostGive) {
  testing::OnRanks(3, [](Communicator& world) {
    const Tensor x = There(world, 1);
    EXPECT_EQ(AllReduce(x).device(), x.device());
    EXPECT_TRUE(Is(AllReduce(x), 6));
    EXPECT_TRUE(Is(AllReduce(x, {.reduction = Reduction::kMean}), 2));
    EXPECT_TRUE(Is(AllReduce(x, {.reduction = Reduction::kProd}), 6));
    EXPECT_TRUE(Is(AllReduce(x, {.reduction = Reduction::kMax}), 3));
    EXPECT_TRUE(Is(AllReduce(x, {.reduction = Reduction::kMin}), 1));
    EXPECT_TRUE(Is(Broadcast(x, {.root = 2}), 3));
    EXPECT_TRUE(Is(inner::ReduceToRoot(x, {.root = 1}), world.rank() == 1 ? 6 : 0));
    const Tensor all = AllGather(x).To(Device::Cpu());
    ASSERT_EQ(all.shape(), Shape({6, 3}));
    for (int64_t i = 0; i < 18; ++i) {
      EXPECT_EQ(all.host_view<float>()[static_cast<size_t>(i)], static_cast<float>(i / 6 + 1));
    }
    EXPECT_TRUE(Is(ReduceScatter(AllGather(x)), 3 * (world.rank() + 1)));
  });
  EXPECT_EQ(nccl_.made(), 3);
  EXPECT_EQ(nccl_.destroyed(), 3);
}

TEST_P(CudaCollectivesTest, MoveInPlaceWhileTheProgramGoesOn) {
  testing::OnRanks(2, [](Communicator& world) {
    const Tensor x = There(world, 1), y = There(world, 5);
    inner::StartAllReduce(x, Reduction::kSum);
    inner::StartBroadcast(y, 1);
    inner::WaitCollective(x);
    inner::WaitCollective(y);
    EXPECT_TRUE(Is(x, 3));
    EXPECT_TRUE(Is(y, 6));
  });
}

TEST_P(CudaCollectivesTest, AreCopiesWhereARankIsAlone) {
  const Tensor x = Full({2, 3}, 4).To(Device::Cuda(1));
  EXPECT_TRUE(Is(AllReduce(x), 4));
  EXPECT_TRUE(Is(AllGather(x), 4));
  EXPECT_TRUE(Is(AllReduce(Full({2, 3}, 5).To(Device::Cuda(0))), 5));
  EXPECT_EQ(nccl_.made(), 0);
}

// A rank whose memory lies elsewhere at each run, as that of rank 1 here, would record at other
// runs than the others; NCCL waits for ever where some ranks launch a recording and some do not.
TEST_P(CudaCollectivesTest, AreQueuedOneByOneInFrozenGraphs) {
  if (!testing::BuiltWithCuda()) GTEST_SKIP() << testing::kWithoutCuda;
  testing::OnRanks(3, [](Communicator& world) {
    const auto step = [](const Tensor& x) {
      return Broadcast(AllReduce(AllGather(AllReduce(x))), {.root = 1});
    };
    StaticGraph graph = Freeze(step, There(world, 0));
    std::vector<Tensor> kept;
    for (int i = 0; i < 5; ++i) {
      const Tensor x = There(world, i);
      if (world.rank() == 1) kept.push_back(x);
      EXPECT_TRUE(Is(graph(x), 9 * (i + 1))) << i;
    }
    EXPECT_NE(graph.Explain().find("it calls other ranks"), std::string::npos) << graph.Explain();
    EXPECT_EQ(graph.device_graph_runs(), 0) << graph.Explain();
  });
  EXPECT_EQ(nccl_.aborted(), 0);
}

// The graph waits for one call in its middle, and for the other at its end.
TEST_P(CudaCollectivesTest, AreOnTheirWayWithinGraphs) {
  if (!testing::BuiltWithCuda()) GTEST_SKIP() << testing::kWithoutCuda;
  testing::OnRanks(2, [](Communicator& world) {
    const Tensor state = There(world, 1), other = There(world, 3);
    const auto step = [&](const Tensor& x) {
      inner::StartAllReduce(state, Reduction::kMax);
      inner::StartAllReduce(other, Reduction::kSum);
      Tensor y = AllReduce(x);
      inner::WaitCollective(state);
      return y;
    };
    StaticGraph graph = Freeze(step, There(world, 0));
    double sum = 7;  // of the captured run
    for (int i = 0; i < 5; ++i, sum *= 2) {
      EXPECT_TRUE(Is(graph(There(world, i)), 2 * i + 1)) << i;
      EXPECT_TRUE(Is(state, 2));
      EXPECT_TRUE(Is(other, 2 * sum));
    }
    EXPECT_EQ(graph.device_graph_runs(), 0) << graph.Explain();
  });
}

TEST_P(CudaCollectivesTest, AreErrorsWhereNobodyComes) {
  testing::OnRanks(
      2,
      [](Communicator& world) {
        AllReduce(There(world, 0));  // both are there
        if (world.rank() == 1) return absl::SleepFor(absl::Milliseconds(700));
        const Tensor y = AllReduce(There(world, 0));
        const std::string error = testing::ErrorOf([&] { y.To(Device::Cpu()); });
        EXPECT_NE(error.find("all_reduce of 6 f32 (sum) on rank 0 (cuda:0) waited 200ms"),
                  error.npos)
            << error;
      },
      absl::Milliseconds(200));
}

}  // namespace
}  // namespace firn
