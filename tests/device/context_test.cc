// The CPU's context, and what a machine without CUDA answers.
#include "firn/device/context.h"

#include <chrono>
#include <string>
#include <thread>

#include "firn/device/cpu_allocator.h"
#include "firn/device/cuda.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(ContextTest, CpuContextIsOneForAll) {
  const auto context = GetDeviceContext(Device::Cpu());
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(*context, &CpuContext());
  EXPECT_EQ((*context)->device(), Device::Cpu());
  EXPECT_EQ(&(*context)->allocator(), &CpuAllocator());
  EXPECT_EQ((*context)->stream().device(), Device::Cpu());
  EXPECT_EQ((*context)->stream().handle(), nullptr);
  EXPECT_TRUE((*context)->Synchronize().ok());
  EXPECT_TRUE((*context)->stream().Synchronize().ok());
}

TEST(ContextTest, RefusesASecondCpu) {
  const auto context = GetDeviceContext(Device{DeviceType::kCpu, 1});
  EXPECT_EQ(context.status().code(), absl::StatusCode::kUnavailable);
}

TEST(ContextTest, SaysWhyCudaIsNotThere) {
  if (CudaAvailable()) GTEST_SKIP() << "this build and machine have CUDA";
  EXPECT_EQ(CudaDeviceCount(), 0);
  EXPECT_FALSE(CudaUnavailableReason().empty());
  const auto context = GetDeviceContext(Device::Cuda(1));
  EXPECT_EQ(context.status().code(), absl::StatusCode::kUnavailable);
  const std::string message(context.status().message());
  EXPECT_NE(message.find("cuda:1"), std::string::npos) << message;
  EXPECT_NE(message.find(CudaUnavailableReason()), std::string::npos) << message;
}

TEST(EventTest, MeasuresTimeBetweenRecords) {
  const auto start = CpuContext().NewEvent(), end = CpuContext().NewEvent();
  ASSERT_TRUE(start.ok() && end.ok());
  EXPECT_TRUE(*(*start)->Done());
  EXPECT_EQ((*end)->MillisecondsSince(**start).status().code(),
            absl::StatusCode::kFailedPrecondition);
  Stream& stream = CpuContext().stream();
  ASSERT_TRUE((*start)->Record(stream).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE((*end)->Record(stream).ok());
  EXPECT_TRUE(stream.Wait(**end).ok());
  EXPECT_TRUE((*end)->Synchronize().ok());
  EXPECT_GE(*(*end)->MillisecondsSince(**start), 2.0);
  EXPECT_LE(*(*start)->MillisecondsSince(**end), -2.0);
}

}  // namespace
}  // namespace firn
