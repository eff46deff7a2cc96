#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/attention/attention_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(scaled_dot_product_attention) { return cuda::Portable<AttentionKernel>(); }
FIRN_REGISTER_KERNELS(scaled_dot_product_attention_grad) {
  return cuda::Portable<AttentionGradKernel>();
}

}  // namespace firn
