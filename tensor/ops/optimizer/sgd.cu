#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/sgd_fn.h"

namespace firn::sgd_cuda {

FIRN_REGISTER_KERNELS(sgd_step) { return cuda::OptimizerKernels<SgdRule>(); }

}  // namespace firn::sgd_cuda
