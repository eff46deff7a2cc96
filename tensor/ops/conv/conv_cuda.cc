// conv2d and conv2d_act by cuDNN.
//
// conv2d_weight_grad by cuDNN.

#include "tensor/kernels/cuda/dnn.h"

namespace firn {

FIRN_REGISTER_KERNELS(conv2d) { return cuda::DnnConvKernels(cuda::DnnConv::kForward); }

FIRN_REGISTER_KERNELS(conv2d_act) {
  return cuda::DnnConvKernels(cuda::DnnConv::kForwardActivation);
}

FIRN_REGISTER_KERNELS(conv2d_weight_grad) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardWeight);
}

}  // namespace firn
