#ifndef FIRN_DEVICE_PARSE_DEVICE_H_
#define FIRN_DEVICE_PARSE_DEVICE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "firn/device/device.h"

namespace firn {

// Reads "cpu", "cuda" (which means "cuda:0") and "cuda:N" with N in [0, 127].
// Errors: InvalidArgument for anything else, naming the text. Does not check that the device
// exists.
absl::StatusOr<Device> ParseDevice(std::string_view text);

}  // namespace firn

#endif  // FIRN_DEVICE_PARSE_DEVICE_H_
