#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/nms_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(nms_mask) { return cuda::Portable<NmsMaskKernel>(); }

}  // namespace firn
