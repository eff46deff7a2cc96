#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/patch_correlation_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(patch_correlation) { return cuda::Portable<PatchCorrelationKernel>(); }
FIRN_REGISTER_KERNELS(patch_correlation_grad) {
  return cuda::Portable<PatchCorrelationGradKernel>();
}

}  // namespace firn
