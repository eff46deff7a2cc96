#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/bits_fn.h"

namespace firn::bits_cuda {

FIRN_REGISTER_KERNELS(bitwise_not) { return cuda::BitKernels<BitwiseNotFn>(); }
FIRN_REGISTER_KERNELS(bitwise_and) { return cuda::BitKernels<BitwiseAndFn, 2>(); }
FIRN_REGISTER_KERNELS(bitwise_or) { return cuda::BitKernels<BitwiseOrFn, 2>(); }
FIRN_REGISTER_KERNELS(bitwise_xor) { return cuda::BitKernels<BitwiseXorFn, 2>(); }
FIRN_REGISTER_KERNELS(bitwise_left_shift) { return cuda::IntegerKernels<BitwiseLeftShiftFn, 2>(); }
FIRN_REGISTER_KERNELS(bitwise_right_shift) {
  return cuda::IntegerKernels<BitwiseRightShiftFn, 2>();
}

}  // namespace firn::bits_cuda
