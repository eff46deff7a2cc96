#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/div_fn.h"

namespace firn::div_cuda {

FIRN_REGISTER_KERNELS(div) { return cuda::NumericKernels<DivAnyFn, 2>(); }

}  // namespace firn::div_cuda
