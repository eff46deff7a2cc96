#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/trunc_fn.h"

namespace firn::trunc_cuda {

FIRN_REGISTER_KERNELS(trunc) { return cuda::NumericKernels<TruncFn>(); }

}  // namespace firn::trunc_cuda
