// CUDA in a build without it: absent, with a reason.
#include <string>

#include "firn/device/internal/cuda_api.h"

namespace firn::inner::internal {

CudaApi* FindCudaRuntime(std::string* reason) {
  *reason = "this build of Firn has no CUDA support (build with --config=cuda)";
  return nullptr;
}

}  // namespace firn::inner::internal
