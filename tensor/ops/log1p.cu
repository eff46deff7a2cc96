#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/log1p_fn.h"

namespace firn::log1p_cuda {

FIRN_REGISTER_KERNELS(log1p) { return cuda::FloatKernels<Log1pFn>(); }

}  // namespace firn::log1p_cuda
