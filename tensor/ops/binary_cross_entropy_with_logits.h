#ifndef FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_
#define FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

// BinaryCrossEntropy(Sigmoid(x), target, weight) for any x without loss of accuracy; its mean or
// its sum. `pos_weight` multiplies the part of positive targets, usually one number a class. Both
// weights broadcast to x's shape. x and target are floating tensors of one shape and dtype.
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target,
                                    const Tensor& weight = {}, const Tensor& pos_weight = {},
                                    Reduction reduction = Reduction::kMean);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_
