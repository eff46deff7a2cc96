#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/sign_fn.h"

namespace firn::sign_cuda {

FIRN_REGISTER_KERNELS(abs) { return cuda::NumericKernels<AbsFn>(); }

FIRN_REGISTER_KERNELS(neg) { return cuda::NumericKernels<NegFn>(); }

FIRN_REGISTER_KERNELS(sign) { return cuda::NumericKernels<SignFn>(); }

FIRN_REGISTER_KERNELS(copysign) { return cuda::FloatKernels<CopysignFn, 2>(); }

}  // namespace firn::sign_cuda
