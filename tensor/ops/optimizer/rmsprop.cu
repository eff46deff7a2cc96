#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/rmsprop_fn.h"

namespace firn::rmsprop_cuda {

FIRN_REGISTER_KERNELS(rmsprop_step) { return cuda::OptimizerKernels<RmspropRule>(); }

}  // namespace firn::rmsprop_cuda
