#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/square_fn.h"

namespace firn::square_cuda {

FIRN_REGISTER_KERNELS(square) { return cuda::NumericKernels<SquareFn>(); }

}  // namespace firn::square_cuda
