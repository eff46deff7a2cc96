#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/sqrt_fn.h"

namespace firn::sqrt_cuda {

FIRN_REGISTER_KERNELS(sqrt) { return cuda::FloatKernels<SqrtFn>(); }

}  // namespace firn::sqrt_cuda
