#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/vision/grid_sample_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(grid_sample) { return cuda::Portable<GridSampleKernel>(); }
FIRN_REGISTER_KERNELS(grid_sample_grad) { return cuda::Portable<GridSampleGradKernel>(); }

}  // namespace firn
