#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/adagrad_fn.h"

namespace firn::adagrad_cuda {

FIRN_REGISTER_KERNELS(adagrad_step) { return cuda::OptimizerKernels<AdagradRule>(); }
FIRN_REGISTER_KERNELS(adadelta_step) { return cuda::OptimizerKernels<AdadeltaRule>(); }

}  // namespace firn::adagrad_cuda
