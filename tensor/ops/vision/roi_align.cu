#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/roi_align_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(roi_align) { return cuda::Portable<RoiAlignKernel>(); }
FIRN_REGISTER_KERNELS(roi_align_grad) { return cuda::Portable<RoiAlignGradKernel>(); }

}  // namespace firn
