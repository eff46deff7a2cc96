#include "tensor/kernels/cuda/elementwise_loss.cuh"
#include "tensor/ops/binary_cross_entropy_with_logits_fn.h"

namespace firn::binary_cross_entropy_with_logits_cuda {

FIRN_REGISTER_KERNELS(binary_cross_entropy_with_logits) {
  return cuda::ElementwiseLossKernels<BinaryCrossEntropyWithLogitsFn>();
}

}  // namespace firn::binary_cross_entropy_with_logits_cuda
