#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/ceil_fn.h"

namespace firn::ceil_cuda {

FIRN_REGISTER_KERNELS(ceil) { return cuda::NumericKernels<CeilFn>(); }

}  // namespace firn::ceil_cuda
