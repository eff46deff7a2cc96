#ifndef FIRN_TENSOR_OPS_HUBER_LOSS_H_
#define FIRN_TENSOR_OPS_HUBER_LOSS_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

struct HuberLossOptions {
  Reduction reduction = Reduction::kMean;
  double delta = 1;
};

// With d = |x - y|: d^2 / 2 below delta, delta (d - delta / 2) from there on (Huber, 1964); its
// mean or its sum. It is delta times SmoothL1Loss with beta = delta. Two floating tensors of one
// shape and dtype: shapes that would broadcast are an error. Throws unless delta is above 0 and
// finite.
Tensor HuberLoss(const Tensor& x, const Tensor& y, const HuberLossOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_HUBER_LOSS_H_
