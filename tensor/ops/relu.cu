#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/relu_fn.h"

namespace firn::relu_cuda {

FIRN_REGISTER_KERNELS(relu) { return cuda::NumericKernels<ReluFn>(); }
FIRN_REGISTER_KERNELS(relu_grad) { return cuda::FloatKernels<ReluGradFn, 2>(); }

}  // namespace firn::relu_cuda
