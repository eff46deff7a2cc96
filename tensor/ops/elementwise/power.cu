#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/power_fn.h"

namespace firn::power_cuda {

FIRN_REGISTER_KERNELS(pow) { return cuda::NumericKernels<PowFn, 2>(); }
FIRN_REGISTER_KERNELS(pow_number) { return cuda::FloatKernels<PowAnyNumberFn>(); }

FIRN_REGISTER_KERNELS(square) { return cuda::NumericKernels<SquareFn>(); }

FIRN_REGISTER_KERNELS(sqrt) { return cuda::FloatKernels<SqrtFn>(); }

FIRN_REGISTER_KERNELS(rsqrt) { return cuda::FloatKernels<RsqrtFn>(); }

FIRN_REGISTER_KERNELS(reciprocal) { return cuda::FloatKernels<ReciprocalFn>(); }

FIRN_REGISTER_KERNELS(hypot) { return cuda::FloatKernels<HypotFn, 2>(); }

}  // namespace firn::power_cuda
