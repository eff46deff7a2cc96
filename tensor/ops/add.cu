#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/add_fn.h"

namespace firn::add_cuda {

FIRN_REGISTER_KERNELS(add) { return cuda::AnyKernels<AddAnyFn, 2>(); }

}  // namespace firn::add_cuda
