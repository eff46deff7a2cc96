#ifndef FIRN_TENSOR_OPS_L1_LOSS_H_
#define FIRN_TENSOR_OPS_L1_LOSS_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

// |x - y|, its mean or its sum. Two floating tensors of one shape and dtype: shapes that would
// broadcast are an error. The gradient is 0 where they are equal.
Tensor L1Loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::kMean);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_L1_LOSS_H_
