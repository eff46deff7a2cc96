// conv2d by cuDNN.

#include "tensor/kernels/cuda/dnn.h"

namespace firn {

FIRN_REGISTER_KERNELS(conv2d) { return cuda::DnnConvKernels(ConvPass::kForward); }

}  // namespace firn
