// The user's view of a device's memory.
#include "firn/device/memory.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "firn/device/cuda.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(MemoryTest, FollowsTheHostAllocator) {
  ASSERT_TRUE(memory::ResetPeak(Device::Cpu()).ok());
  const auto before = memory::Stats(Device::Cpu());
  ASSERT_TRUE(before.ok());
  const auto block = CpuAllocator().Allocate(20 * kMiB, AllocTag::kParameter);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(memory::Stats(Device::Cpu())->live(AllocTag::kParameter),
            before->live(AllocTag::kParameter) + static_cast<int64_t>(block->bytes));
  CpuAllocator().Free(*block);
  EXPECT_EQ(*memory::Peak(Device::Cpu()), before->live_bytes + static_cast<int64_t>(block->bytes));
  ASSERT_TRUE(memory::ResetPeak(Device::Cpu()).ok());
  EXPECT_EQ(*memory::Peak(Device::Cpu()), before->live_bytes);
  ASSERT_TRUE(memory::EmptyCache(Device::Cpu()).ok());
  EXPECT_LT(memory::Stats(Device::Cpu())->cached_bytes, static_cast<int64_t>(20 * kMiB));
}

// This holds even if each slab still has a block in use.
TEST(MemoryTest, EmptyCacheGivesPagesBackToTheSystem) {
  const auto resident = [] {  // bytes; 0 where the system does not say
    std::ifstream statm("/proc/self/statm");
    int64_t all = 0, pages = 0;
    statm >> all >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  if (resident() == 0) GTEST_SKIP() << "there is no /proc/self/statm";
  ASSERT_TRUE(memory::EmptyCache(Device::Cpu()).ok());
  const int64_t before = resident();
  constexpr int64_t kHalf = 4 << 20, kSlabs = 8;  // two blocks a slab
  std::vector<Block> blocks;
  for (int64_t i = 0; i < 2 * kSlabs; ++i) {
    blocks.push_back(*CpuAllocator().Allocate(kHalf, AllocTag::kOther));
    std::memset(blocks.back().data, 1, kHalf);
  }
  for (size_t i = 1; i < blocks.size(); i += 2) CpuAllocator().Free(blocks[i]);
  // Less than all: Linux adds small pages up a few dozen at a time.
  EXPECT_GE(resident() - before, 2 * kSlabs * kHalf * 7 / 8);
  ASSERT_TRUE(memory::EmptyCache(Device::Cpu()).ok());
  EXPECT_LE(resident() - before, kSlabs * kHalf * 3 / 2);  // AddressSanitizer has its part
  for (size_t i = 0; i < blocks.size(); i += 2) CpuAllocator().Free(blocks[i]);
}

TEST(MemoryTest, SetsAndLiftsTheLimit) {
  ASSERT_TRUE(memory::SetLimit(Device::Cpu(), 10 * kMiB).ok());
  EXPECT_EQ(memory::Stats(Device::Cpu())->limit_bytes, static_cast<int64_t>(10 * kMiB));
  EXPECT_FALSE(CpuAllocator().Allocate(11 * kMiB, AllocTag::kOther).ok());
  ASSERT_TRUE(memory::SetLimit(Device::Cpu(), std::nullopt).ok());
  EXPECT_EQ(memory::Stats(Device::Cpu())->limit_bytes, -1);
}

TEST(MemoryTest, RefusesADeviceThatIsNotThere) {
  if (CudaAvailable()) GTEST_SKIP() << "this build and machine have CUDA";
  const Device cuda = Device::Cuda();
  for (const absl::Status& status :
       {memory::Stats(cuda).status(), memory::Peak(cuda).status(), memory::ResetPeak(cuda),
        memory::EmptyCache(cuda), memory::SetLimit(cuda, 1)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  }
}

}  // namespace
}  // namespace firn
