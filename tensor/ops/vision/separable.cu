#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/separable_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(adaptive_separable_conv2d) { return cuda::Portable<SeparableKernel>(); }
FIRN_REGISTER_KERNELS(adaptive_separable_conv2d_grad) {
  return cuda::Portable<SeparableGradKernel>();
}

}  // namespace firn
