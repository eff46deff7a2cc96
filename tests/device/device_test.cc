// Devices as values and as text.
#include "firn/device/device.h"

#include <sstream>
#include <string>
#include <unordered_set>

#include "absl/hash/hash_testing.h"
#include "firn/device/parse_device.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(DeviceTest, DefaultIsTheCpu) {
  EXPECT_EQ(Device{}, Device::Cpu());
  EXPECT_TRUE(Device{}.is_cpu());
  EXPECT_FALSE(Device::Cuda().is_cpu());
  EXPECT_TRUE(Device::Cuda().is_cuda());
}

TEST(DeviceTest, DiffersByTypeAndIndex) {
  EXPECT_NE(Device::Cpu(), Device::Cuda(0));
  EXPECT_NE(Device::Cuda(0), Device::Cuda(1));
  EXPECT_EQ(Device::Cuda(1), Device::Cuda(1));
}

TEST(DeviceTest, PrintsTypeAndIndex) {
  EXPECT_EQ(Device::Cpu().ToString(), "cpu");
  EXPECT_EQ(Device::Cuda(3).ToString(), "cuda:3");
  EXPECT_STREQ(DeviceTypeName(DeviceType::kCuda), "cuda");
  std::ostringstream os;
  os << Device::Cuda();
  EXPECT_EQ(os.str(), "cuda:0");
}

TEST(DeviceTest, ParsesWhatItPrints) {
  for (const Device device : {Device::Cpu(), Device::Cuda(0), Device::Cuda(127)}) {
    const auto parsed = ParseDevice(device.ToString());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, device);
  }
  EXPECT_EQ(*ParseDevice("cuda"), Device::Cuda(0));
}

TEST(DeviceTest, RefusesOtherText) {
  for (const char* text : {"", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:128", "cuda:1x", "cuda: 1",
                           "cuda:99999999999999999999", "gpu", "cuda0"}) {
    const auto parsed = ParseDevice(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(std::string(parsed.status().message()).find("got \"" + std::string(text) + "\""),
              std::string::npos)
        << parsed.status();
  }
}

TEST(DeviceTest, HashesAgreeWithEquality) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Device::Cpu(), Device::Cuda(0), Device::Cuda(1), Device::Cuda(127)}));
  const std::unordered_set<Device> set = {Device::Cpu(), Device::Cuda(0), Device::Cpu()};
  EXPECT_EQ(set.size(), 2u);
}

}  // namespace
}  // namespace firn
