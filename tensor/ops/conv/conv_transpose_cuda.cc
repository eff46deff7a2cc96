// Transposed convolutions by cuDNN.

#include "firn/tensor/kernels/cuda/dnn.h"

namespace firn {

FIRN_REGISTER_KERNELS(conv_transpose1d) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardData);
}

FIRN_REGISTER_KERNELS(conv_transpose2d) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardData);
}

FIRN_REGISTER_KERNELS(conv_transpose3d) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardData);
}

}  // namespace firn
