#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/elementwise/arithmetic_fn.h"

namespace firn::arithmetic_cuda {

FIRN_REGISTER_KERNELS(add) { return cuda::AnyKernels<AddAnyFn, 2>(); }

FIRN_REGISTER_KERNELS(sub) { return cuda::NumericKernels<SubScaledFn, 2>(); }

FIRN_REGISTER_KERNELS(mul) { return cuda::AnyKernels<MulFn, 2>(); }

FIRN_REGISTER_KERNELS(div) { return cuda::NumericKernels<DivAnyFn, 2>(); }

}  // namespace firn::arithmetic_cuda
