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
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// -(target log p + (1 - target) log(1 - p)) with logarithms cut off at -100, times the weight; its
// mean or its sum. p and target are floating tensors of one shape and dtype. Throws on a p outside
// [0, 1]. From logits, BinaryCrossEntropyWithLogits is more accurate.
Tensor BinaryCrossEntropy(const Tensor& p, const Tensor& target,
                          const BinaryCrossEntropyOptions& options = {});

struct BinaryCrossEntropyWithLogitsOptions {
  // Both broadcast to x's shape. Undefined: 1.
  Tensor weight = {};      // of the elements
  Tensor pos_weight = {};  // of the term of positive targets, usually one per class
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("weight", weight);
    v.Field("pos_weight", pos_weight);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// BinaryCrossEntropy(Sigmoid(x), target) for any x without loss of accuracy; its mean or its sum.
// x and target are floating tensors of one shape and dtype.
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target,
                                    const BinaryCrossEntropyWithLogitsOptions& options = {});

struct SigmoidFocalLossOptions {
  double alpha = 0.25;  // weight of positive targets, 1 - alpha of others; below 0: none
  double gamma = 2;     // how much less right elements count; 0: not less
  Reduction reduction = Reduction::kNone;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("gamma", gamma);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const;
};

// The focal loss of logits (Lin et al., 2017; torchvision.ops.sigmoid_focal_loss): with p_t the
// probability of the target, (1 - p_t)^gamma BinaryCrossEntropyWithLogits(x, target), weighted by
// alpha; of every element unless another reduction is asked for. x and target, which is 0 or 1, are
// floating tensors of one shape and dtype. Throws on a gamma below 0 and on an alpha of NaN or
// above 1.
Tensor SigmoidFocalLoss(const Tensor& x, const Tensor& target,
                        const SigmoidFocalLossOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_BINARY_H_
