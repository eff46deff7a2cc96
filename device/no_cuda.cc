// CUDA as a build without it sees it: absent, with a reason.
#include <string>

#include "device/cuda.h"
#include "device/status_macros.h"

namespace firn {

bool CudaAvailable() { return false; }

std::string CudaUnavailableReason() {
  return "this build of Firn has no CUDA support (build with --config=cuda)";
}

int CudaDeviceCount() { return 0; }

absl::StatusOr<DeviceContext*> CudaContext(int index) {
  return Unavailable("device cuda:", index, " cannot be used: ", CudaUnavailableReason());
}

}  // namespace firn
