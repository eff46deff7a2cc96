#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/lt_fn.h"

namespace firn::lt_cuda {

FIRN_REGISTER_KERNELS(lt) { return cuda::PredicateKernels<LtFn, 2>(); }

}  // namespace firn::lt_cuda
