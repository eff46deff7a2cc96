#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/eq_fn.h"

namespace firn::eq_cuda {

FIRN_REGISTER_KERNELS(eq) { return cuda::PredicateKernels<EqFn, 2>(); }

}  // namespace firn::eq_cuda
