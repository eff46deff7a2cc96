#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/trust_ratio_fn.h"

namespace firn::trust_ratio_cuda {

FIRN_REGISTER_KERNELS(lamb_step) { return cuda::OptimizerKernels<LambRule>(); }
FIRN_REGISTER_KERNELS(lars_step) { return cuda::OptimizerKernels<LarsRule>(); }

}  // namespace firn::trust_ratio_cuda
