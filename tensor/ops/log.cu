#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/log_fn.h"

namespace firn::log_cuda {

FIRN_REGISTER_KERNELS(log) { return cuda::FloatKernels<LogFn>(); }

}  // namespace firn::log_cuda
