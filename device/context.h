#ifndef FIRN_DEVICE_CONTEXT_H_
#define FIRN_DEVICE_CONTEXT_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/allocator.h"
#include "device/device.h"

namespace firn {

class Stream;

// A point in a stream's work that can be waited for and timed. Thread-compatible.
class Event {
 public:
  virtual ~Event() = default;

  // Moves the event to the end of what is queued on `stream` now.
  virtual absl::Status Record(Stream& stream) = 0;

  // Whether the recorded point was reached; true for an event never recorded.
  virtual absl::StatusOr<bool> Done() const = 0;

  // Blocks the calling thread until the recorded point is reached.
  virtual absl::Status Synchronize() const = 0;

  // Time between two recorded and reached points, in milliseconds.
  // Errors: FailedPrecondition unless both were; InvalidArgument for an event of another device.
  virtual absl::StatusOr<double> MillisecondsSince(const Event& start) const = 0;
};

// A queue of work that a device runs in order. On the CPU work is done when it is queued, so a
// stream is always idle. Thread-compatible: queue from one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;

  Device device() const { return device_; }

  // The device library's own handle (a cudaStream_t); null on the CPU.
  void* handle() const { return handle_; }

  // Makes work queued here from now on wait for the event, without blocking the caller.
  virtual absl::Status Wait(const Event& event) = 0;

  // Blocks the calling thread until everything queued here is done; returns errors of that work.
  virtual absl::Status Synchronize() = 0;

 protected:
  Stream(Device device, void* handle) : device_(device), handle_(handle) {}

 private:
  Device device_;
  void* handle_;
};

// What Firn holds of one device: memory and the stream its ops are queued on. One a device, made on
// first use and never destroyed; thread-safe except for what it hands out.
class DeviceContext {
 public:
  virtual ~DeviceContext() = default;

  virtual Device device() const = 0;
  virtual Stream& stream() = 0;
  virtual Allocator& allocator() = 0;

  // Blocks until the device has finished all work; returns errors of that work.
  virtual absl::Status Synchronize() = 0;

  virtual absl::StatusOr<std::unique_ptr<Event>> NewEvent() = 0;
};

// The context of the CPU; it always exists.
DeviceContext& CpuContext();

// The context of any device.
// Errors: Unavailable when this build or this machine does not have the device, with the reason.
absl::StatusOr<DeviceContext*> GetDeviceContext(Device device);

}  // namespace firn

#endif  // FIRN_DEVICE_CONTEXT_H_
