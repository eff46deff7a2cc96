#ifndef FIRN_DEVICE_USABLE_DEVICE_H_
#define FIRN_DEVICE_USABLE_DEVICE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "firn/device/device.h"

namespace firn {

// `wanted`, or, where it is a CUDA device, this build has CUDA and the machine no usable GPU or
// driver, the CPU; that is said once on stderr, with the reason. For programs with a --device flag.
// Errors: Unavailable for any other device that is not there.
absl::StatusOr<Device> UsableDevice(Device wanted);
// The same for the flag's text, as ParseDevice (device/parse_device.h) reads it.
absl::StatusOr<Device> UsableDevice(std::string_view text);

}  // namespace firn

#endif  // FIRN_DEVICE_USABLE_DEVICE_H_
