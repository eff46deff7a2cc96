#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/le_fn.h"

namespace firn::le_cuda {

FIRN_REGISTER_KERNELS(le) { return cuda::PredicateKernels<LeFn, 2>(); }

}  // namespace firn::le_cuda
