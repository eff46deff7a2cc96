// The caching allocator of CUDA memory, on the stand-in runtime.
#include "firn/device/internal/cuda_allocator.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class CudaAllocatorTest : public ::testing::Test {
 protected:
  Block Take(size_t bytes, AllocTag tag = AllocTag::kActivation) {
    const auto block = allocator_.Allocate(bytes, tag);
    EXPECT_TRUE(block.ok()) << block.status();
    return block.ok() ? *block : Block();
  }

  FakeCuda cuda_{1, 128 * kMiB};
  CudaCachingAllocator allocator_{cuda_, 0};
};

TEST_F(CudaAllocatorTest, AlignsBlocksTo512Bytes) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{513}, 3 * kMiB + 5}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(Take(bytes).data) % 512, 0u) << bytes;
  }
}

TEST_F(CudaAllocatorTest, CutsManySmallBlocksFromOneSlab) {
  for (int i = 0; i < 100; ++i) Take(1000);
  EXPECT_EQ(cuda_.calls("Malloc"), 1);
  EXPECT_EQ(cuda_.device_bytes(), 2 * kMiB);
}

TEST_F(CudaAllocatorTest, GivesBlocksOfNoBytesAddressesOfTheirOwn) {
  const Block a = Take(0), b = Take(0);
  EXPECT_NE(a.data, nullptr);
  EXPECT_NE(a.data, b.data);
}

TEST_F(CudaAllocatorTest, ReusesAFreedBlockWithoutAskingTheDevice) {
  const Block first = Take(5 * kMiB);
  allocator_.Free(first);
  const int calls = cuda_.calls("Malloc");
  EXPECT_EQ(Take(5 * kMiB).data, first.data);
  EXPECT_EQ(cuda_.calls("Malloc"), calls);
  EXPECT_EQ(cuda_.calls("Free"), 0);
}

TEST_F(CudaAllocatorTest, KeepsIdleSlabsWhenItNeedsANewOne) {
  allocator_.Free(Take(32 * kMiB));
  Take(64 * kMiB);  // does not fit into the idle slab
  EXPECT_EQ(cuda_.calls("Free"), 0) << "cudaFree waits for all work";
}

TEST_F(CudaAllocatorTest, EmptiesItsCacheAndTriesAgainWhenTheDeviceIsFull) {
  allocator_.Free(Take(96 * kMiB));
  const Block block = Take(100 * kMiB);  // the device does not have 196 MiB
  EXPECT_NE(block.data, nullptr);
  EXPECT_EQ(cuda_.calls("Free"), 1);
}

TEST_F(CudaAllocatorTest, TellsWhatIsHeldWhenMemoryRunsOut) {
  Take(64 * kMiB, AllocTag::kParameter);
  const auto refused = allocator_.Allocate(100 * kMiB, AllocTag::kWorkspace);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.status().message(),
            "out of memory on cuda:0: asked for 100.00 MiB (104857600 bytes, workspace); live "
            "64.00 MiB (parameter 64.00 MiB), cached 0 B, limit none, refused by the system");
  EXPECT_NE(Take(1 * kMiB).data, nullptr) << "the allocator works on";
}

TEST_F(CudaAllocatorTest, ObeysItsLimit) {
  allocator_.SetLimit(40 * kMiB);
  Take(20 * kMiB);
  EXPECT_FALSE(allocator_.Allocate(30 * kMiB, AllocTag::kOther).ok());
  allocator_.SetLimit(std::nullopt);
  EXPECT_TRUE(allocator_.Allocate(30 * kMiB, AllocTag::kOther).ok());
}

TEST_F(CudaAllocatorTest, RefusesSizesNoMachineHas) {
  const auto refused = allocator_.Allocate(SIZE_MAX / 2, AllocTag::kOther);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cuda_.calls("Malloc"), 0);
}

TEST_F(CudaAllocatorTest, CountsLiveCachedAndPeakByTag) {
  const Block a = Take(2 * kMiB, AllocTag::kGradient);
  const Block b = Take(4 * kMiB, AllocTag::kParameter);
  allocator_.Free(a);
  const AllocatorStats stats = allocator_.stats();
  EXPECT_EQ(stats.live_bytes, static_cast<int64_t>(4 * kMiB));
  EXPECT_EQ(stats.peak_bytes, static_cast<int64_t>(6 * kMiB));
  EXPECT_EQ(stats.cached_bytes, static_cast<int64_t>(28 * kMiB));
  EXPECT_EQ(stats.live(AllocTag::kGradient), 0);
  EXPECT_EQ(stats.peak(AllocTag::kGradient), static_cast<int64_t>(2 * kMiB));
  EXPECT_EQ(stats.allocations, 2);
  allocator_.ResetPeak();
  EXPECT_EQ(allocator_.stats().peak_bytes, static_cast<int64_t>(4 * kMiB));
  allocator_.Free(b);
  allocator_.EmptyCache();
  EXPECT_EQ(cuda_.device_bytes(), 0u);
}

}  // namespace
}  // namespace firn::inner::internal
