#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/expm1_fn.h"

namespace firn::expm1_cuda {

FIRN_REGISTER_KERNELS(expm1) { return cuda::FloatKernels<Expm1Fn>(); }

}  // namespace firn::expm1_cuda
