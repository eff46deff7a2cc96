// conv2d_weight_grad by cuDNN.

#include "tensor/kernels/cuda/dnn.h"

namespace firn {

FIRN_REGISTER_KERNELS(conv2d_weight_grad) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardWeight);
}

}  // namespace firn
