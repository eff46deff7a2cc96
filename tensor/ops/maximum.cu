#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/maximum_fn.h"

namespace firn::maximum_cuda {

FIRN_REGISTER_KERNELS(maximum) { return cuda::AnyKernels<MaximumFn, 2>(); }
FIRN_REGISTER_KERNELS(maximum_grad) { return cuda::FloatKernels<MaximumGradFn, 3>(); }

}  // namespace firn::maximum_cuda
