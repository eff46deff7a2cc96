// The CPU's context, and the choice among devices. CPU work is done when it is queued: waiting is
// trivial, and an event is a time.
#include "firn/device/context.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "firn/device/cpu_allocator.h"
#include "firn/device/cuda.h"
#include "firn/device/status_macros.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

class CpuEvent final : public Event {
 public:
  absl::Status Record(Stream& stream) override {
    FIRN_RETURN_IF(!stream.device().is_cpu(),
                   InvalidArgument("event: a cpu event cannot be recorded"
                                   " on a stream of ",
                                   stream.device().ToString()));
    time_ = Clock::now();
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Done() const override { return true; }

  absl::Status Synchronize() const override { return absl::OkStatus(); }

  absl::StatusOr<double> MillisecondsSince(const Event& start) const override {
    const auto* other = dynamic_cast<const CpuEvent*>(&start);
    FIRN_RETURN_IF(other == nullptr,
                   InvalidArgument("event: the start is no event of the cpu, as this one is"));
    FIRN_RETURN_IF(!time_ || !other->time_, FailedPrecondition("event: not recorded yet"));
    return std::chrono::duration<double, std::milli>(*time_ - *other->time_).count();
  }

 private:
  std::optional<Clock::time_point> time_;
};

class CpuStream final : public Stream {
 public:
  CpuStream() : Stream(Device::Cpu(), nullptr) {}

  // The event may be another device's, and CPU work cannot be queued behind that, so the thread
  // waits.
  absl::Status Wait(const Event& event) override { return event.Synchronize(); }

  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class CpuDeviceContext final : public DeviceContext {
 public:
  Device device() const override { return Device::Cpu(); }
  Stream& stream() override { return stream_; }
  Allocator& allocator() override { return CpuAllocator(); }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<Event>> NewEvent() override {
    return std::make_unique<CpuEvent>();
  }
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override {
    return std::make_unique<CpuStream>();
  }
  absl::StatusOr<std::unique_ptr<Recording>> Record(absl::FunctionRef<absl::Status()>) override {
    return Unimplemented("the cpu does its work at once and records none");
  }
  absl::Status CopyFromHost(void* to, const void* from, size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status CopyFromHost(void* to, const void* from, size_t bytes, Stream&) override {
    return CopyFromHost(to, from, bytes);
  }
  absl::Status CopyToHost(void* to, const void* from, size_t bytes) override {
    return CopyFromHost(to, from, bytes);
  }
  absl::Status CopyFromDevice(void* to, DeviceContext& source, const void* from,
                              size_t bytes) override {
    FIRN_RETURN_IF(!source.device().is_cpu(), InvalidArgument("copy: ", source.device().ToString(),
                                                              " is not the cpu; use CopyToHost"));
    return CopyFromHost(to, from, bytes);
  }

 private:
  CpuStream stream_;
};

}  // namespace

DeviceContext& CpuContext() {
  static DeviceContext* const context = new CpuDeviceContext;  // never destroyed, see the class
  return *context;
}

absl::StatusOr<DeviceContext*> GetDeviceContext(Device device) {
  if (device.is_cuda()) return CudaContext(device.index);
  FIRN_RETURN_IF(device.index != 0, Unavailable("device cpu:", static_cast<int>(device.index),
                                                " does not exist; there is one cpu"));
  return &CpuContext();
}

}  // namespace firn
