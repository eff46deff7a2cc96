#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/minimum_fn.h"

namespace firn::minimum_cuda {

FIRN_REGISTER_KERNELS(minimum) { return cuda::AnyKernels<MinimumFn, 2>(); }

}  // namespace firn::minimum_cuda
