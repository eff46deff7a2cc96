// Batches that are copied to a device beside the computation, on the stand-in for one.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/inner.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/io/data/data_loader.h"
#include "firn/tensor/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"
#include "tests/io/data/numbers.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CudaDataLoaderTest : public ::testing::Test {
 protected:
  FakeCuda cuda_;
  inner::internal::ScopedCudaApi scope_{cuda_};
  const Device device_ = Device::Cuda(0);
  DeviceContext& context_ = **GetDeviceContext(device_);
};

TEST_F(CudaDataLoaderTest, BatchesArriveOnTheDevice) {
  for (const int threads : {0, 2}) {
    DataLoader here(Numbers(10), {.batch = 3, .shuffle = true, .seed = 2});
    DataLoader there(
        Numbers(10),
        {.batch = 3, .shuffle = true, .seed = 2, .prefetch = threads, .device = device_});
    for (int epoch = 0; epoch < 3; ++epoch) {
      const auto want = Epoch(here);
      std::vector<std::vector<int64_t>> got;
      for (auto [inputs, targets] : there) {
        EXPECT_EQ(inputs.device(), device_);
        EXPECT_EQ(targets.ToVector<int64_t>(), inputs.ToVector<int64_t>());
        got.push_back(inputs.ToVector<int64_t>());
      }
      EXPECT_EQ(got, want);
    }
  }
  EXPECT_EQ(context_.allocator().stats().live_bytes, 0);
}

TEST_F(CudaDataLoaderTest, BatchesOutliveTheLoopAndTheirMemoryIsNotUsedAgain) {
  std::vector<Sample> kept;
  {
    DataLoader loader(Numbers(12), {.batch = 2, .device = device_});
    for (Sample& batch : loader) kept.push_back(std::move(batch));
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto first = static_cast<int64_t>(2 * i);
    EXPECT_THAT(kept[i].input.ToVector<int64_t>(), ElementsAre(first, first + 1));
  }
  kept.clear();
  EXPECT_EQ(context_.allocator().stats().live_bytes, 0);
}

TEST_F(CudaDataLoaderTest, NeverWaitsAndUsesMemoryInTurn) {
  DataLoader loader(Numbers(40), {.batch = 2, .device = device_});
  const int64_t waited = CudaSynchronizations();
  int64_t most = 0;
  for (auto [inputs, targets] : loader) {
    most = std::max(most, context_.allocator().stats().allocations);
  }
  EXPECT_EQ(CudaSynchronizations(), waited);
  EXPECT_EQ(cuda_.calls("SynchronizeEvent"), 0);
  EXPECT_EQ(most, 4) << "two batches of two tensors at a time";
}

TEST_F(CudaDataLoaderTest, ALoopMayEndEarly) {
  for (int taken = 0; taken < 3; ++taken) {
    DataLoader loader(Numbers(100), {.batch = 2, .prefetch = taken, .device = device_});
    int batches = 0;
    for (const Sample& batch : loader) {
      EXPECT_EQ(batch.input.ToVector<int64_t>()[0], 2 * batches);
      if (batches++ == taken) break;
    }
  }
  EXPECT_EQ(context_.allocator().stats().live_bytes, 0);
}

TEST_F(CudaDataLoaderTest, ExceptionsReachTheLoopAtTheirBatchAndItGoesOn) {
  const DatasetPtr bad = Map(Numbers(10), [](Sample s) {
    if (s.input.Item<int64_t>() == 5) throw std::domain_error("five");
    return s;
  });
  for (const int threads : {0, 2}) {
    DataLoader loader(bad, {.batch = 2, .prefetch = threads, .device = device_});
    DataLoader::Iterator i = loader.begin();
    EXPECT_THAT(i->input.ToVector<int64_t>(), ElementsAre(0, 1));
    ++i;
    EXPECT_THAT(i->input.ToVector<int64_t>(), ElementsAre(2, 3));
    EXPECT_THROW(++i, std::domain_error);
    ++i;
    EXPECT_THAT(i->input.ToVector<int64_t>(), ElementsAre(6, 7));
  }
}

TEST_F(CudaDataLoaderTest, ADeviceThatIsFullIsAnErrorOfThatBatch) {
  DataLoader loader(Numbers(10), {.batch = 2, .device = device_});
  DataLoader::Iterator i = loader.begin();
  const Sample kept = *i;  // its memory cannot be used again
  context_.allocator().SetLimit(0);
  ++i;  // this one was there
  const std::string error = testing::ErrorOf([&] { ++i; });
  EXPECT_THAT(error, HasSubstr("data loader: "));
  EXPECT_THAT(error, HasSubstr("cuda:0"));
}

TEST(DataLoaderDeviceTest, RefusesADeviceThatIsNotThere) {
  FakeCuda cuda(1);
  const inner::internal::ScopedCudaApi scope(cuda);
  EXPECT_THAT(testing::ErrorOf([] { DataLoader(Numbers(3), {.device = Device::Cuda(4)}); }),
              HasSubstr("data loader: device cuda:4 cannot be used"));
}

TEST_F(CudaDataLoaderTest, ResumesInsideAnEpoch) {
  DataLoader here(Numbers(23), {.batch = 4, .shuffle = true});
  DataLoader there(Numbers(23), {.batch = 4, .shuffle = true, .device = device_});
  there.SetPosition({.epoch = 1, .batch = 3});
  here.SetPosition({.epoch = 1, .batch = 3});
  std::vector<int64_t> on_device;
  for (const Sample& batch : there) {
    for (const int64_t v : batch.input.To(Device::Cpu()).ToVector<int64_t>()) {
      on_device.push_back(v);
    }
  }
  EXPECT_EQ(on_device, Flat(Epoch(here)));
}

}  // namespace
}  // namespace firn::io
