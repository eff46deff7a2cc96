#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/elementwise/trigonometry_fn.h"

namespace firn::trigonometry_cuda {

FIRN_REGISTER_KERNELS(sin) { return cuda::FloatKernels<SinFn>(); }

FIRN_REGISTER_KERNELS(cos) { return cuda::FloatKernels<CosFn>(); }

}  // namespace firn::trigonometry_cuda
