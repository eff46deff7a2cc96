#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/interpolate_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(resample) { return cuda::Portable<ResampleKernel>(); }
FIRN_REGISTER_KERNELS(resample_grad) { return cuda::Portable<ResampleGradKernel>(); }

}  // namespace firn
