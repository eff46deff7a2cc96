// Collective operations on memory of devices, eager and in frozen graphs: ranks are threads, each
// with a device of a stand-in for CUDA. Uses only operations whose kernels every build has.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/comm/groups.h"
#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/strided_copy.h"
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

// Builds without CUDA have no kernel that copies tensors on a device, which the capture and the
// results of a graph need; here all of them are contiguous.
absl::Status CopyContiguous(Device device, Stream*, absl::Span<const inner::internal::CopyDim> dims,
                            int64_t width, const void* from, void* to) {
  int64_t bytes = width;
  for (const inner::internal::CopyDim& d : dims) bytes *= d.size;
  const absl::StatusOr<DeviceContext*> context = GetDeviceContext(device);
  if (!context.ok()) return context.status();
  return (*context)->CopyFromDevice(to, **context, from, static_cast<size_t>(bytes));
}

class CudaCollectivesTest : public ::testing::TestWithParam<FakeCuda::Others> {
 protected:
  CudaCollectivesTest() {
    cuda_.set_others(GetParam());
    if (!testing::BuiltWithCuda()) inner::internal::copy_on_cuda = CopyContiguous;
  }
  ~CudaCollectivesTest() override {
    if (!testing::BuiltWithCuda()) inner::internal::copy_on_cuda = nullptr;
  }

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

// Graphs that are frozen in its scope are recorded by all ranks together.
struct Recorded {
  Recorded() { setenv("FIRN_RECORD_COLLECTIVES", "1", 1); }
  ~Recorded() { unsetenv("FIRN_RECORD_COLLECTIVES"); }
};

// The pattern of DataParallel: sums start in the middle of a step and are waited for later.
TEST_P(CudaCollectivesTest, AreRecordedWhereAllRanksRunTogether) {
  const Recorded recorded;
  testing::OnRanks(3, [](Communicator& world) {
    const Tensor state = There(world, 1), inputs[] = {There(world, 0), There(world, 5)};
    const auto step = [&](const Tensor& x) {
      inner::StartAllReduce(state, Reduction::kSum);
      Tensor y = Broadcast(AllReduce(x), {.root = 1});
      inner::WaitCollective(state);
      return y;
    };
    StaticGraph graph = Freeze(step, inputs[0]);
    double sum = 6;  // of the captured run
    Tensor out[] = {Tensor()};
    for (int i = 0; i < 8; ++i, sum *= 3) {
      const Tensor in[] = {inputs[i % 2]};
      const absl::Status run = graph.Run(in, out);
      ASSERT_TRUE(run.ok()) << run;
      EXPECT_TRUE(Is(out[0], i % 2 == 0 ? 3 : 18)) << i;
      EXPECT_TRUE(Is(state, 3 * sum)) << i;
    }
    EXPECT_EQ(graph.device_graph_runs(), 8 - 2) << graph.Explain();
  });
  EXPECT_EQ(nccl_.aborted(), 0);
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
  // Three calls each in the captured run, in the first run of both inputs and in both recordings.
  EXPECT_EQ(nccl_.queued(), 3 * 3 * (1 + 2 + 2));
}

// Rank 1 observes its third run; the others follow it through the list, and launch again.
TEST_P(CudaCollectivesTest, AreQueuedOneByOneWhereOneRankHasTo) {
  const Recorded recorded;
  testing::OnRanks(2, [](Communicator& world) {
    struct Watching : inner::ExecutionObserver {
      absl::Status BeforeStep(const inner::ExecutionStep&) override { return absl::OkStatus(); }
      absl::Status AfterStep(const inner::ExecutionStep&) override { return absl::OkStatus(); }
    };
    const Tensor x = There(world, 1);
    StaticGraph graph = Freeze([](const Tensor& t) { return AllReduce(t); }, x);
    Tensor out[] = {Tensor()};
    for (int i = 0; i < 5; ++i) {
      Watching observer;
      std::optional<inner::ExecutionObserverScope> scope;
      if (world.rank() == 1 && i == 2) scope.emplace(&observer);
      const absl::Status run = graph.Run({&x, 1}, out);
      ASSERT_TRUE(run.ok()) << run;
      EXPECT_TRUE(Is(out[0], 3)) << i;
    }
    EXPECT_EQ(graph.device_graph_runs(), 3) << graph.Explain();
  });
  EXPECT_EQ(nccl_.aborted(), 0);
}

// Rank 2 knows one of the groups alone, and could record its graph.
TEST_P(CudaCollectivesTest, AreNotRecordedWhereARankHasSeveralGroups) {
  const Recorded recorded;
  testing::OnRanks(3, [](Communicator& world) {
    const auto part = *world.Split(world.rank() < 2 ? 0 : -1, 0);
    std::optional<comm::Group> group;
    if (part != nullptr) group.emplace(*part);
    const Tensor x = There(world, 1);
    const auto step = [&](const Tensor& t) {
      return AllReduce(group ? AllReduce(t, {.group = group->number()}) : t);
    };
    StaticGraph graph = Freeze(step, x);
    Tensor out[] = {Tensor()};
    for (int i = 0; i < 4; ++i) {
      const absl::Status run = graph.Run({&x, 1}, out);
      ASSERT_TRUE(run.ok()) << run;
      EXPECT_TRUE(Is(out[0], 3 + 3 + 3)) << i;
    }
    EXPECT_EQ(graph.device_graph_runs(), 0) << graph.Explain();
    EXPECT_EQ(graph.Explain().find("several groups") != std::string::npos, group.has_value());
  });
  EXPECT_EQ(nccl_.aborted(), 0);
}

// A communicator that is gone takes its recordings along; the next one makes its own.
TEST_P(CudaCollectivesTest, AreRecordedAnewByOtherRanks) {
  const Recorded recorded;
  std::vector<std::optional<StaticGraph>> graphs(2);
  std::vector<Tensor> inputs(2), outputs(2);
  for (int time = 1; time <= 2; ++time) {
    testing::OnRanks(2, [&](Communicator& world) {
      const auto at = static_cast<size_t>(world.rank());
      if (time == 1) {
        inputs[at] = There(world, 1);
        graphs[at] = Freeze([](const Tensor& x) { return AllReduce(x); }, inputs[at]);
      }
      for (int i = 0; i < 3; ++i) {
        const absl::Status run = graphs[at]->Run({&inputs[at], 1}, {&outputs[at], 1});
        ASSERT_TRUE(run.ok()) << run;
        EXPECT_TRUE(Is(outputs[at], 3));
      }
      EXPECT_EQ(graphs[at]->device_graph_runs(), 2 * time) << graphs[at]->Explain();
    });
    EXPECT_EQ(nccl_.destroyed(), 2 * time);
  }
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
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
