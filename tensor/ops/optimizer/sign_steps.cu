#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/sign_steps_fn.h"

namespace firn::sign_steps_cuda {

FIRN_REGISTER_KERNELS(lion_step) { return cuda::OptimizerKernels<LionRule>(); }
FIRN_REGISTER_KERNELS(rprop_step) { return cuda::OptimizerKernels<RpropRule>(); }

}  // namespace firn::sign_steps_cuda
