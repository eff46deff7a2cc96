#ifndef FIRN_TENSOR_OPS_LOSS_BINARY_H_
#define FIRN_TENSOR_OPS_LOSS_BINARY_H_

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct BinaryCrossEntropyOptions {
  Tensor weight = {};  // of the elements; broadcasts to p's shape. Undefined: 1
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("weight", weight);
    v.Field("reduction", reduction);
  }
};

// -(target log p + (1 - target) log(1 - p)) with logarithms cut off at -100, times the weight; its
// mean or its sum. p and target are floating tensors of one shape and dtype. Throws on a p outside
// [0, 1]. From logits, BinaryCrossEntropyWithLogits is more accurate.
Tensor BinaryCrossEntropy(const Tensor& p, const Tensor& target,
                          const BinaryCrossEntropyOptions& options = {});

struct BinaryCrossEntropyWithLogitsOptions {
  // Both broadcast to x's shape. Undefined: 1.
  Tensor weight = {};      // of the elements
  Tensor pos_weight = {};  // of the part of positive targets, usually one number a class
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("weight", weight);
    v.Field("pos_weight", pos_weight);
    v.Field("reduction", reduction);
  }
};

// BinaryCrossEntropy(Sigmoid(x), target) for any x without loss of accuracy; its mean or its sum.
// x and target are floating tensors of one shape and dtype.
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target,
                                    const BinaryCrossEntropyWithLogitsOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_BINARY_H_
