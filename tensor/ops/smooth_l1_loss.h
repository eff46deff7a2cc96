#ifndef FIRN_TENSOR_OPS_SMOOTH_L1_LOSS_H_
#define FIRN_TENSOR_OPS_SMOOTH_L1_LOSS_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct SmoothL1LossAttrs {
  Reduction reduction = Reduction::kMean;
  double beta = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("beta", beta);
  }
};
}  // namespace inner
using SmoothL1LossOptions = inner::SmoothL1LossAttrs;

// With d = |x - y|: d^2 / (2 beta) below beta, d - beta / 2 from there on; its mean or its sum.
// It is HuberLoss divided by its delta; beta 0 is L1Loss. Two floating tensors of one shape and
// dtype: shapes that would broadcast are an error. Throws on a negative or infinite beta.
Tensor SmoothL1Loss(const Tensor& x, const Tensor& y, const SmoothL1LossOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SMOOTH_L1_LOSS_H_
