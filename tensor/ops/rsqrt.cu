#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/rsqrt_fn.h"

namespace firn::rsqrt_cuda {

FIRN_REGISTER_KERNELS(rsqrt) { return cuda::FloatKernels<RsqrtFn>(); }

}  // namespace firn::rsqrt_cuda
