#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/adam_fn.h"

namespace firn::adam_cuda {

FIRN_REGISTER_KERNELS(adam_step) { return cuda::OptimizerKernels<AdamRule>(); }

}  // namespace firn::adam_cuda
