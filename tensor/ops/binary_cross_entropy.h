#ifndef FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_H_
#define FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

struct BinaryCrossEntropyOptions {
  Tensor weight = {};  // of the elements; broadcasts to p's shape. Undefined: 1
  Reduction reduction = Reduction::kMean;
};

// -(target log p + (1 - target) log(1 - p)) with logarithms cut off at -100, times the weight; its
// mean or its sum. p and target are floating tensors of one shape and dtype. Throws on a p outside
// [0, 1]. From logits, BinaryCrossEntropyWithLogits is more accurate.
Tensor BinaryCrossEntropy(const Tensor& p, const Tensor& target,
                          const BinaryCrossEntropyOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_H_
