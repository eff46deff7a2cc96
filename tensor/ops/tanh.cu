#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/tanh_fn.h"

namespace firn::tanh_cuda {

FIRN_REGISTER_KERNELS(tanh) { return cuda::FloatKernels<TanhFn>(); }
FIRN_REGISTER_KERNELS(tanh_grad) { return cuda::FloatKernels<TanhGradFn, 2>(); }

}  // namespace firn::tanh_cuda
