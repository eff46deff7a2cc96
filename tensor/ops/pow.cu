#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/pow_fn.h"

namespace firn::pow_cuda {

FIRN_REGISTER_KERNELS(pow) { return cuda::NumericKernels<PowFn, 2>(); }
FIRN_REGISTER_KERNELS(pow_number) { return cuda::FloatKernels<PowAnyNumberFn>(); }

}  // namespace firn::pow_cuda
