// Convolutions, conv2d_act and weight gradients by cuDNN.

#include "firn/tensor/kernels/cuda/dnn.h"

namespace firn {

FIRN_REGISTER_KERNELS(conv1d) { return cuda::DnnConvKernels(cuda::DnnConv::kForward); }

FIRN_REGISTER_KERNELS(conv2d) { return cuda::DnnConvKernels(cuda::DnnConv::kForward); }

FIRN_REGISTER_KERNELS(conv3d) { return cuda::DnnConvKernels(cuda::DnnConv::kForward); }

FIRN_REGISTER_KERNELS(conv2d_act) {
  return cuda::DnnConvKernels(cuda::DnnConv::kForwardActivation);
}

FIRN_REGISTER_KERNELS(conv1d_weight_grad) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardWeight);
}

FIRN_REGISTER_KERNELS(conv2d_weight_grad) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardWeight);
}

FIRN_REGISTER_KERNELS(conv3d_weight_grad) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardWeight);
}

}  // namespace firn
