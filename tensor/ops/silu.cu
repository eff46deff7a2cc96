#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/silu_fn.h"

namespace firn::silu_cuda {

FIRN_REGISTER_KERNELS(silu) { return cuda::FloatKernels<SiluFn>(); }
FIRN_REGISTER_KERNELS(silu_grad) { return cuda::FloatKernels<SiluGradFn, 2>(); }

}  // namespace firn::silu_cuda
