// conv_transpose2d by cuDNN.

#include "tensor/kernels/cuda/dnn.h"

namespace firn {

FIRN_REGISTER_KERNELS(conv_transpose2d) {
  return cuda::DnnConvKernels(cuda::DnnConv::kBackwardData);
}

}  // namespace firn
