#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/activation/shrink_fn.h"

namespace firn::shrink_cuda {

FIRN_REGISTER_KERNELS(shrink_grad) { return cuda::FloatKernels<ShrinkGradFn, 2>(); }
FIRN_REGISTER_KERNELS(hardshrink) { return cuda::FloatKernels<HardshrinkFn>(); }
FIRN_REGISTER_KERNELS(softshrink) { return cuda::FloatKernels<SoftshrinkFn>(); }

}  // namespace firn::shrink_cuda
