#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/elementwise/modulo_fn.h"

namespace firn::modulo_cuda {

FIRN_REGISTER_KERNELS(remainder) { return cuda::NumericKernels<RemainderFn, 2>(); }
FIRN_REGISTER_KERNELS(fmod) { return cuda::NumericKernels<FmodFn, 2>(); }

}  // namespace firn::modulo_cuda
