#ifndef FIRN_DEVICE_INTERNAL_CUDA_STATUS_H_
#define FIRN_DEVICE_INTERNAL_CUDA_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "firn/device/internal/cuda_api.h"

namespace firn::inner::internal {

// OK for code 0, else an error that names the call and the runtime's text: ResourceExhausted when
// memory ran out, otherwise Internal. Does not return when the device's context is lost (a kernel
// read or wrote outside its memory: Firn's own bug): prints the kernels launched last and aborts,
// for nothing on that device can be trusted or done any more.
absl::Status CudaStatus(const CudaApi& api, int code, const char* call);

// Remembers the name for the message of a lost context. Thread-safe; the name must live on.
void NoteLaunch(const char* name);

// "exp, then add, then ...": the last few, oldest first.
std::string LastLaunches();

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_STATUS_H_
