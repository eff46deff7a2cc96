#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/reciprocal_fn.h"

namespace firn::reciprocal_cuda {

FIRN_REGISTER_KERNELS(reciprocal) { return cuda::FloatKernels<ReciprocalFn>(); }

}  // namespace firn::reciprocal_cuda
