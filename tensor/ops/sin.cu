#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/sin_fn.h"

namespace firn::sin_cuda {

FIRN_REGISTER_KERNELS(sin) { return cuda::FloatKernels<SinFn>(); }

}  // namespace firn::sin_cuda
