// Exchanges of an optimizer's ranks: they give the same bits in the memory of the CPU, and in that
// of a stand-in for CUDA through one for NCCL.

#include "firn/optim/shard_exchange.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "firn/device/comm/communicator.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/storage.h"
#include "tests/device/comm/fake_nccl.h"
#include "tests/device/fake_cuda.h"
#include "tests/optim/on_ranks.h"

namespace firn::optim::internal {
namespace {

// Shapes that 1, 2 and 4 ranks cut evenly, or unevenly; with fewer elements than ranks; without
// elements; of other dtypes.
const std::vector<Shape> kShapes = {{64, 4}, {7, 19}, {7}, {}, {0}, {33, 3}, {128}};
DType TypeOf(size_t i) { return i == 5 ? DType::kF64 : i == 6 ? DType::kBF16 : DType::kF32; }

// Small whole numbers, whose means over 1, 2 and 4 ranks are not rounded.
Tensor Numbers(size_t i, int rank) {
  std::vector<double> x;
  for (int64_t n = 0; n < kShapes[i].num_elements(); ++n) {
    x.push_back(
        static_cast<double>((n * n + 3 * n * rank + static_cast<int64_t>(i)) % 13 * 4 - 20));
  }
  return Cast(FromVector(x, kShapes[i]), TypeOf(i));
}

Tensor MeanOf(size_t i, int ranks) {
  Tensor sum = Numbers(i, 0).To(DType::kF64);
  for (int r = 1; r < ranks; ++r) sum = Add(sum, Numbers(i, r).To(DType::kF64));
  return Cast(Div(sum, ranks), TypeOf(i));
}

Shard PartOf(size_t i, const comm::Communicator& c) {
  return ShardOf(kShapes[i].num_elements(), c.rank(), c.size());
}

void CheckAverages(comm::Communicator& c, Device device) {
  std::vector<Tensor> whole, parts;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    whole.push_back(Numbers(i, c.rank()).To(device));
    parts.push_back(Empty({PartOf(i, c).count}, TypeOf(i), device));
  }
  const absl::Status status = AverageShards(whole, parts, c);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    const Tensor mean = MeanOf(i, c.size());
    EXPECT_TRUE(parts[i].To(Device::Cpu()).Equals(ElementsOf(mean, PartOf(i, c))))
        << "tensor " << i << " on rank " << c.rank() << " of " << c.size();
  }
}

// Every rank has its own part of rank 0's numbers, and others elsewhere.
void CheckGathering(comm::Communicator& c, Device device) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    Tensor t = Full(kShapes[i], -1.0 - c.rank(), TypeOf(i));
    const Shard part = PartOf(i, c);
    if (part.count != 0) {
      Tensor own = ElementsOf(t, part);
      own.CopyFrom(ElementsOf(Numbers(i, 0), part));
    }
    tensors.push_back(t.To(device));
  }
  const absl::Status status = GatherShards(tensors, c);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    EXPECT_TRUE(tensors[i].To(Device::Cpu()).Equals(Numbers(i, 0)))
        << "tensor " << i << " on rank " << c.rank() << " of " << c.size();
  }
}

TEST(ShardExchangeTest, GivesWhatItSaysOnTheCpu) {
  for (const int size : {1, 2, 3, 4}) {
    ExpectNoErrors(ErrorsOfRanks(size, [&](comm::Communicator& c) {
      if (size != 3) CheckAverages(c, Device::Cpu());
      CheckGathering(c, Device::Cpu());
    }));
  }
}

TEST(ShardExchangeTest, GivesTheSameOnDevices) {
  for (const auto others : {FakeCuda::Others::kLate, FakeCuda::Others::kEarly}) {
    for (const int size : {1, 2, 3, 4}) {
      FakeCuda cuda(size);
      cuda.set_others(others);
      const inner::internal::ScopedCudaApi scope(cuda);
      const comm::FakeNccl nccl(cuda);
      ExpectNoErrors(ErrorsOfRanks(size, [&](comm::Communicator& c) {
        if (size != 3) CheckAverages(c, Device::Cuda(c.rank()));
        CheckGathering(c, Device::Cuda(c.rank()));
      }));
      EXPECT_EQ(nccl.aborted(), 0);
      EXPECT_EQ(nccl.queued() > 0, size > 1);
    }
  }
}

// The memory that messages were packed in is used again at once, and the device comes to it later.
TEST(ShardExchangeTest, ComesAfterWhatWasQueuedAndBeforeWhatFollows) {
  FakeCuda cuda(2);
  const inner::internal::ScopedCudaApi scope(cuda);
  const comm::FakeNccl nccl(cuda);
  ExpectNoErrors(ErrorsOfRanks(2, [&](comm::Communicator& c) {
    const Device device = Device::Cuda(c.rank());
    for (int round = 0; round < 3; ++round) {
      CheckGathering(c, device);
      const Tensor other = Full({4096}, round).To(device);
      CheckAverages(c, device);
      EXPECT_TRUE(other.To(Device::Cpu()).Equals(Full({4096}, round)));
    }
  }));
}

TEST(ShardExchangeTest, NamesTwoDevices) {
  FakeCuda cuda(1);
  const inner::internal::ScopedCudaApi scope(cuda);
  for (const std::string& error : ErrorsOfRanks(1, [](comm::Communicator& c) {
         const std::vector<Tensor> both = {Ones({4}), Ones({4}).To(Device::Cuda(0))};
         EXPECT_EQ(GatherShards(both, c).message(),
                   "ranks exchange what lies on one device, not on cpu and cuda:0");
       })) {
    EXPECT_EQ(error, "");
  }
}

}  // namespace
}  // namespace firn::optim::internal
