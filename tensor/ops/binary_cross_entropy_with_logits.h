#ifndef FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_
#define FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

struct BinaryCrossEntropyWithLogitsOptions {
  // Both broadcast to x's shape. Undefined: 1.
  Tensor weight = {};      // of the elements
  Tensor pos_weight = {};  // of the part of positive targets, usually one number a class
  Reduction reduction = Reduction::kMean;
};

// BinaryCrossEntropy(Sigmoid(x), target) for any x without loss of accuracy; its mean or its sum.
// x and target are floating tensors of one shape and dtype.
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target,
                                    const BinaryCrossEntropyWithLogitsOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_
