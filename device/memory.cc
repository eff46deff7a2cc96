// Each function finds the device's allocator and calls it.
#include "firn/device/memory.h"

#include <optional>

#include "firn/device/context.h"
#include "firn/device/status_macros.h"

namespace firn::memory {

absl::StatusOr<AllocatorStats> Stats(Device device) {
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  return context->allocator().stats();
}

absl::StatusOr<int64_t> Peak(Device device) {
  FIRN_ASSIGN_OR_RETURN(const AllocatorStats stats, Stats(device));
  return stats.peak_bytes;
}

absl::Status ResetPeak(Device device) {
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  context->allocator().ResetPeak();
  return absl::OkStatus();
}

absl::Status EmptyCache(Device device) {
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  context->allocator().EmptyCache();
  return absl::OkStatus();
}

absl::Status SetLimit(Device device, std::optional<size_t> bytes) {
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  context->allocator().SetLimit(bytes);
  return absl::OkStatus();
}

}  // namespace firn::memory
