#ifndef FIRN_DEVICE_MEMORY_H_
#define FIRN_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/allocator.h"
#include "firn/device/device.h"

// Functions that query and control a device's memory. Thread-safe. All of them return Unavailable,
// with the reason, for a device this build or this machine does not have.
namespace firn::memory {

absl::StatusOr<AllocatorStats> Stats(Device device);

// The most bytes that were live at once since the start or the last ResetPeak.
absl::StatusOr<int64_t> Peak(Device device);

absl::Status ResetPeak(Device device);

// Returns cached memory to the system: after something large that will not come again soon, such as
// a first run with huge shapes. Pages that are needed later are taken anew, with a page fault each.
// Memory of 64 KiB and less that other threads cache stays with them. torch.cuda.empty_cache.
absl::Status EmptyCache(Device device);

// Bounds what is taken from the system, in bytes; nullopt lifts the bound. See Allocator::SetLimit.
absl::Status SetLimit(Device device, std::optional<size_t> bytes);

}  // namespace firn::memory

#endif  // FIRN_DEVICE_MEMORY_H_
