#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/loss/margin_body.h"

namespace firn::margin_cuda {

FIRN_REGISTER_KERNELS(multilabel_margin_loss) {
  return cuda::Portable<MultilabelMarginLossKernel>();
}
FIRN_REGISTER_KERNELS(multilabel_margin_slopes) {
  return cuda::Portable<MultilabelMarginSlopesKernel>();
}

}  // namespace firn::margin_cuda
