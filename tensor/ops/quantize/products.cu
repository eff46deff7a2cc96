#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/quantize/products_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(int_matmul) { return cuda::Portable<IntMatmulKernel>(); }
FIRN_REGISTER_KERNELS(int_conv2d) { return cuda::Portable<IntConvKernel>(); }

}  // namespace firn
