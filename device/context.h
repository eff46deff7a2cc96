#ifndef FIRN_DEVICE_CONTEXT_H_
#define FIRN_DEVICE_CONTEXT_H_

#include <cstddef>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/allocator.h"
#include "firn/device/device.h"

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

// Work recorded on a stream, to be queued again and again as one. It refers to the memory that it
// was recorded with. Thread-compatible.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual absl::Status Launch(Stream& stream) = 0;
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

  // Another queue of work, beside stream(); order between the two is made with events.
  virtual absl::StatusOr<std::unique_ptr<Stream>> NewStream() = 0;

  // Records what `queue` queues on stream() instead of doing it (on CUDA, as a CUDA graph). `queue`
  // must not wait for the device or allocate its memory. Errors: those of `queue`; Unimplemented
  // for a device that records nothing.
  virtual absl::StatusOr<std::unique_ptr<Recording>> Record(
      absl::FunctionRef<absl::Status()> queue) = 0;

  // Copies host memory to this device's, behind what is queued on stream(). Returns when `from` was
  // read; only what is queued on stream() later sees the bytes.
  virtual absl::Status CopyFromHost(void* to, const void* from, size_t bytes) = 0;

  // Copies this device's memory to the host, behind what is queued on stream(), and waits for it.
  virtual absl::Status CopyToHost(void* to, const void* from, size_t bytes) = 0;

  // Copies between devices of one type, or on one, behind what is queued on both streams. Neither
  // thread nor host memory is involved. Errors: InvalidArgument for a source of another type.
  virtual absl::Status CopyFromDevice(void* to, DeviceContext& source, const void* from,
                                      size_t bytes) = 0;

  // CopyFromHost, queued on `on`, one of this device's other streams.
  virtual absl::Status CopyFromHost(void* to, const void* from, size_t bytes, Stream& on) = 0;
};

// The context of the CPU; it always exists.
DeviceContext& CpuContext();

// The context of any device.
// Errors: Unavailable when this build or this machine does not have the device, with the reason.
absl::StatusOr<DeviceContext*> GetDeviceContext(Device device);

// The context of CUDA device `index`, made on first use.
// Errors: Unavailable when there is no such device, with the reason.
absl::StatusOr<DeviceContext*> CudaContext(int index);

}  // namespace firn

#endif  // FIRN_DEVICE_CONTEXT_H_
