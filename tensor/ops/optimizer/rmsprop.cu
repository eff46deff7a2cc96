#include "tensor/kernels/cuda/optimizer_step.cuh"
#include "tensor/ops/optimizer/rmsprop_fn.h"

namespace firn::rmsprop_cuda {

FIRN_REGISTER_KERNELS(rmsprop_step) { return cuda::OptimizerKernels<RmspropRule>(); }

}  // namespace firn::rmsprop_cuda
