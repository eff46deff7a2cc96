#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/ne_fn.h"

namespace firn::ne_cuda {

FIRN_REGISTER_KERNELS(ne) { return cuda::PredicateKernels<NeFn, 2>(); }

}  // namespace firn::ne_cuda
