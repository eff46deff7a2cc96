#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/quantize/binary_fn.h"

namespace firn::quantize_binary_cuda {

FIRN_REGISTER_KERNELS(binary_sigmoid) { return cuda::FloatKernels<BinarySigmoidFn>(); }
FIRN_REGISTER_KERNELS(binary_tanh) { return cuda::FloatKernels<BinaryTanhFn>(); }
FIRN_REGISTER_KERNELS(binary_grad) { return cuda::FloatKernels<BinaryGradFn, 2>(); }

}  // namespace firn::quantize_binary_cuda
