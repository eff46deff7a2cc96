#ifndef FIRN_TESTS_DEVICE_COMM_ON_DEVICES_H_
#define FIRN_TESTS_DEVICE_COMM_ON_DEVICES_H_

// Ranks that are threads, each with memory of a CUDA device of its own.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "firn/device/comm/device_ranks.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::comm {

// Memory of a device.
class There {
 public:
  There(DeviceContext& context, size_t bytes)
      : context_(context), block_(*context.allocator().Allocate(bytes, AllocTag::kOther)) {}
  ~There() { context_.allocator().Free(block_); }
  There(const There&) = delete;
  There& operator=(const There&) = delete;
  void* data() const { return block_.data; }

 private:
  DeviceContext& context_;
  Block block_;
};

// Calls `body` with each of `size` ranks of NCCL's on a thread of its own.
inline void OnDevices(int size, const std::function<void(Communicator&)>& body,
                      absl::Duration timeout = absl::Seconds(60)) {
  firn::testing::OnRanks(
      size,
      [&](Communicator& host) {
        const auto ranks = DeviceRanks(host, Device::Cuda(host.rank()));
        ASSERT_TRUE(ranks.ok()) << ranks.status();
        body(**ranks);
      },
      timeout);
}

// f32 that lie on a rank's device.
class Floats {
 public:
  Floats(Communicator& ranks, std::vector<float> x)
      : context_(**GetDeviceContext(ranks.device())), size_(x.size()), at_(context_, 4 * size_) {
    EXPECT_TRUE(context_.CopyFromHost(at_.data(), x.data(), 4 * size_).ok());
  }
  float* data() const { return static_cast<float*>(at_.data()); }
  absl::StatusOr<std::vector<float>> Read() const {
    std::vector<float> x(size_);
    FIRN_RETURN_IF_ERROR(context_.CopyToHost(x.data(), at_.data(), 4 * size_));
    return x;
  }

 private:
  DeviceContext& context_;
  const size_t size_;
  There at_;
};

}  // namespace firn::comm

#endif  // FIRN_TESTS_DEVICE_COMM_ON_DEVICES_H_
