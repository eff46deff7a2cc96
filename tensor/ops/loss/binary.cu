// Probabilities outside [0, 1] are an error on the CPU only: here they are not checked, and give
// NaN or any number.

#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/kernels/cuda/elementwise_loss.cuh"
#include "firn/tensor/ops/loss/binary_fn.h"
#include "firn/tensor/ops/loss/binary_grad_fn.h"

namespace firn::binary_cuda {

FIRN_REGISTER_KERNELS(binary_cross_entropy) {
  return cuda::ElementwiseLossKernels<BinaryCrossEntropyFn>();
}

FIRN_REGISTER_KERNELS(binary_cross_entropy_grad) {
  return cuda::FloatKernels<BinaryCrossEntropyGradFn, 3>();
}

FIRN_REGISTER_KERNELS(binary_cross_entropy_target_grad) {
  return cuda::FloatKernels<BinaryCrossEntropyTargetGradFn, 2>();
}

FIRN_REGISTER_KERNELS(binary_cross_entropy_with_logits) {
  return cuda::ElementwiseLossKernels<BinaryCrossEntropyWithLogitsFn>();
}

}  // namespace firn::binary_cuda
