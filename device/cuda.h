#ifndef FIRN_DEVICE_CUDA_H_
#define FIRN_DEVICE_CUDA_H_

#include <string>

#include "absl/status/statusor.h"

// What the rest of Firn needs to know of CUDA, without a CUDA header. A build with CUDA links
// device/internal/cuda_*; any other links device/no_cuda.cc. Thread-safe.
namespace firn {

class DeviceContext;

// Whether at least one CUDA device can be used now.
bool CudaAvailable();

// Why CudaAvailable() is false, for a skipped test or an error; empty when it is true.
std::string CudaUnavailableReason();

// Usable CUDA devices; 0 when CUDA is not available.
int CudaDeviceCount();

// The context of CUDA device `index`, made on first use.
// Errors: Unavailable when there is no such device, with the reason.
absl::StatusOr<DeviceContext*> CudaContext(int index);

}  // namespace firn

#endif  // FIRN_DEVICE_CUDA_H_
