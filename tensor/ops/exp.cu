#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/exp_fn.h"

namespace firn::exp_cuda {

FIRN_REGISTER_KERNELS(exp) { return cuda::FloatKernels<ExpFn>(); }

}  // namespace firn::exp_cuda
