#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/roi_pool_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(roi_pool) { return cuda::Portable<RoiPoolKernel>(); }

}  // namespace firn
