#ifndef FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_H_
#define FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

// -(target log p + (1 - target) log(1 - p)) with logarithms cut off at -100, times weight where one
// is given (it broadcasts to p's shape); its mean or its sum. p and target are floating tensors of
// one shape and dtype. Throws on a p outside [0, 1]. From logits, BinaryCrossEntropyWithLogits is
// more accurate.
Tensor BinaryCrossEntropy(const Tensor& p, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::kMean);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_BINARY_CROSS_ENTROPY_H_
