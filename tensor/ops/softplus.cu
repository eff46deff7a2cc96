#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/softplus_fn.h"

namespace firn::softplus_cuda {

FIRN_REGISTER_KERNELS(softplus) { return cuda::FloatKernels<SoftplusFn>(); }
FIRN_REGISTER_KERNELS(softplus_grad) { return cuda::FloatKernels<SoftplusGradFn, 2>(); }

}  // namespace firn::softplus_cuda
