#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/sigmoid_fn.h"

namespace firn::sigmoid_cuda {

FIRN_REGISTER_KERNELS(sigmoid) { return cuda::FloatKernels<SigmoidFn>(); }
FIRN_REGISTER_KERNELS(sigmoid_grad) { return cuda::FloatKernels<SigmoidGradFn, 2>(); }

}  // namespace firn::sigmoid_cuda
