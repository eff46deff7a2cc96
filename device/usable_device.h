#ifndef FIRN_DEVICE_USABLE_DEVICE_H_
#define FIRN_DEVICE_USABLE_DEVICE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "firn/device/device.h"

namespace firn {

// Returns `wanted`. If it is a CUDA device and this build has CUDA, but the machine has no usable
// GPU or driver, returns the CPU and says so once on stderr, with the reason. For programs with a
// --device flag. Errors: Unavailable for any other device that is not there.
absl::StatusOr<Device> UsableDevice(Device wanted);
// The same for the flag's text, which ParseDevice (device/parse_device.h) reads.
absl::StatusOr<Device> UsableDevice(std::string_view text);

}  // namespace firn

#endif  // FIRN_DEVICE_USABLE_DEVICE_H_
