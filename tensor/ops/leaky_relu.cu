#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/leaky_relu_fn.h"

namespace firn::leaky_relu_cuda {

FIRN_REGISTER_KERNELS(leaky_relu) { return cuda::FloatKernels<LeakyReluFn>(); }
FIRN_REGISTER_KERNELS(leaky_relu_grad) { return cuda::FloatKernels<LeakyReluGradFn, 2>(); }

}  // namespace firn::leaky_relu_cuda
