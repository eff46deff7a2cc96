#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/neg_fn.h"

namespace firn::neg_cuda {

FIRN_REGISTER_KERNELS(neg) { return cuda::NumericKernels<NegFn>(); }

}  // namespace firn::neg_cuda
