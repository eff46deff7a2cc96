#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/shape/rearrange_body.h"

namespace firn::rearrange_cuda {

FIRN_REGISTER_KERNELS(roll_dim) { return cuda::Portable<RollKernel>(); }

}  // namespace firn::rearrange_cuda
