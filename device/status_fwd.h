#ifndef FIRN_DEVICE_STATUS_FWD_H_
#define FIRN_DEVICE_STATUS_FWD_H_

// The names of Abseil's status types, for headers that firn.h includes: the types themselves take
// as long to compile as everything else there together. Code that looks into a status includes
// absl/status/status.h or statusor.h; Firn's own code does through device/status_macros.h.

#include "absl/base/config.h"

namespace absl {
ABSL_NAMESPACE_BEGIN
class Status;
template <typename T>
class StatusOr;
enum class StatusCode : int;
ABSL_NAMESPACE_END
}  // namespace absl

#endif  // FIRN_DEVICE_STATUS_FWD_H_
