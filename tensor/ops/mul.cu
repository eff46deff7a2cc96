#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/mul_fn.h"

namespace firn::mul_cuda {

FIRN_REGISTER_KERNELS(mul) { return cuda::AnyKernels<MulFn, 2>(); }

}  // namespace firn::mul_cuda
