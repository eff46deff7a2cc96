#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/abs_fn.h"

namespace firn::abs_cuda {

FIRN_REGISTER_KERNELS(abs) { return cuda::NumericKernels<AbsFn>(); }

}  // namespace firn::abs_cuda
