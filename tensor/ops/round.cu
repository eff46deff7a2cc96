#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/round_fn.h"

namespace firn::round_cuda {

FIRN_REGISTER_KERNELS(round) { return cuda::NumericKernels<RoundFn>(); }

}  // namespace firn::round_cuda
