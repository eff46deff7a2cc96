#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/sub_fn.h"

namespace firn::sub_cuda {

FIRN_REGISTER_KERNELS(sub) { return cuda::NumericKernels<SubScaledFn, 2>(); }

}  // namespace firn::sub_cuda
