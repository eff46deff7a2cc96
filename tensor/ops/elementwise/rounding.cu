#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/rounding_fn.h"

namespace firn::rounding_cuda {

FIRN_REGISTER_KERNELS(ceil) { return cuda::NumericKernels<CeilFn>(); }

FIRN_REGISTER_KERNELS(floor) { return cuda::NumericKernels<FloorFn>(); }

FIRN_REGISTER_KERNELS(round) { return cuda::NumericKernels<RoundFn>(); }

FIRN_REGISTER_KERNELS(trunc) { return cuda::NumericKernels<TruncFn>(); }

FIRN_REGISTER_KERNELS(frac) { return cuda::NumericKernels<FracFn>(); }

}  // namespace firn::rounding_cuda
