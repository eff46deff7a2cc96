#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/linear/distance_body.h"

namespace firn::distance_cuda {

FIRN_REGISTER_KERNELS(cdist) { return cuda::Portable<CdistKernel>(); }
FIRN_REGISTER_KERNELS(cdist_grad) { return cuda::Portable<CdistGradKernel>(); }

}  // namespace firn::distance_cuda
