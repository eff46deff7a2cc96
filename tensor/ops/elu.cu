#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/elu_fn.h"

namespace firn::elu_cuda {

FIRN_REGISTER_KERNELS(elu) { return cuda::FloatKernels<EluFn>(); }
FIRN_REGISTER_KERNELS(elu_grad) { return cuda::FloatKernels<EluGradFn, 2>(); }

}  // namespace firn::elu_cuda
