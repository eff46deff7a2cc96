#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/gelu_fn.h"

namespace firn::gelu_cuda {

FIRN_REGISTER_KERNELS(gelu) { return cuda::FloatKernels<EitherGelu<GeluFn, GeluTanhFn>>(); }
FIRN_REGISTER_KERNELS(gelu_grad) {
  return cuda::FloatKernels<EitherGelu<GeluGradFn, GeluTanhGradFn>, 2>();
}

}  // namespace firn::gelu_cuda
