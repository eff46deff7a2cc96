#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/ge_fn.h"

namespace firn::ge_cuda {

FIRN_REGISTER_KERNELS(ge) { return cuda::PredicateKernels<GeFn, 2>(); }

}  // namespace firn::ge_cuda
