#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/sign_fn.h"

namespace firn::sign_cuda {

FIRN_REGISTER_KERNELS(sign) { return cuda::NumericKernels<SignFn>(); }

}  // namespace firn::sign_cuda
