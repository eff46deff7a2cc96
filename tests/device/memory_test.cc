// The user's view of a device's memory.
#include "firn/device/memory.h"

#include <optional>

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
