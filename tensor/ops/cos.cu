#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/cos_fn.h"

namespace firn::cos_cuda {

FIRN_REGISTER_KERNELS(cos) { return cuda::FloatKernels<CosFn>(); }

}  // namespace firn::cos_cuda
