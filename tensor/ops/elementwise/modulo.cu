#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/modulo_fn.h"

namespace firn::modulo_cuda {

FIRN_REGISTER_KERNELS(remainder) { return cuda::NumericKernels<RemainderFn, 2>(); }
FIRN_REGISTER_KERNELS(fmod) { return cuda::NumericKernels<FmodFn, 2>(); }
FIRN_REGISTER_KERNELS(remainder_grad) { return cuda::FloatKernels<RemainderGradFn, 3>(); }
FIRN_REGISTER_KERNELS(fmod_grad) { return cuda::FloatKernels<FmodGradFn, 3>(); }

}  // namespace firn::modulo_cuda
