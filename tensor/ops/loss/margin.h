#ifndef FIRN_TENSOR_OPS_LOSS_MARGIN_H_
#define FIRN_TENSOR_OPS_LOSS_MARGIN_H_

// Losses that want a margin between right and wrong, like those of torch.nn.functional. Shapes that
// would broadcast are an error. The gradient at the kink of a hinge is 0.

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct HingeEmbeddingLossOptions {
  double margin = 1;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("margin", margin);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// x where target is 1, max(0, margin - x) where it is -1; for any other target the sum of both. x,
// a distance, and target are floating tensors of one shape and dtype.
Tensor HingeEmbeddingLoss(const Tensor& x, const Tensor& target,
                          const HingeEmbeddingLossOptions& options = {});

struct MarginRankingLossOptions {
  double margin = 0;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("margin", margin);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// max(0, margin - target (x1 - x2)): target 1 wants x1 above x2, -1 below; for target 0 it is the
// margin, without a gradient. Three floating tensors of one shape and dtype.
Tensor MarginRankingLoss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                         const MarginRankingLossOptions& options = {});

// log(1 + e^(-target x)), finite for any x; its mean or its sum. Targets are 1 and -1. They are not
// checked, as in PyTorch: a target 0 gives log 2 for any x and no gradient, so a model with targets
// 0 and 1 learns nothing from half of them. Give 2 * target - 1, or take
// BinaryCrossEntropyWithLogits, which is the same loss for targets 0 and 1. Two floating tensors of
// one shape and dtype.
Tensor SoftMarginLoss(const Tensor& x, const Tensor& target, const LossOptions& options = {});
template <inner::OnlyReduction R>
Tensor SoftMarginLoss(const Tensor& x, const Tensor& target, R reduction) {
  return SoftMarginLoss(x, target, LossOptions{reduction});
}

struct MultiMarginLossOptions {
  double p = 1;
  double margin = 1;
  Tensor weight = {};  // [classes]; undefined: 1 each
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("margin", margin);
    v.Field("weight", weight);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const;
};

// The hinge loss of classes (Crammer and Singer, 2001):
//   sum over i other than t of weight[t] max(0, margin - x[t] + x[i])^p / classes
//   x: [n, classes] or [classes], floating      target: class indices (i32, i64), [n] or []
// Throws on p other than 1 and 2, shapes and dtypes that do not fit and indices outside
// [0, classes).
Tensor MultiMarginLoss(const Tensor& x, const Tensor& target,
                       const MultiMarginLossOptions& options = {});

// The hinge loss for several labels per sample: with y the labels of a sample,
//   sum over j in y and i not in y of max(0, 1 - (x[j] - x[i])) / classes
//   x: [n, classes] or [classes], floating
//   target: i32 or i64 of x's shape; each row lists labels, which end before the first -1
// Throws on shapes that differ and labels outside [-1, classes).
Tensor MultilabelMarginLoss(const Tensor& x, const Tensor& target, const LossOptions& options = {});
template <inner::OnlyReduction R>
Tensor MultilabelMarginLoss(const Tensor& x, const Tensor& target, R reduction) {
  return MultilabelMarginLoss(x, target, LossOptions{reduction});
}

struct MultilabelSoftMarginLossOptions {
  Tensor weight = {};  // of the classes; broadcasts to x's shape. Undefined: 1
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("weight", weight);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// The mean over classes (the last dimension) of BinaryCrossEntropyWithLogits(x, target). x
// [..., classes] and target, which is 0 or 1, are floating tensors of one shape and dtype.
Tensor MultilabelSoftMarginLoss(const Tensor& x, const Tensor& target,
                                const MultilabelSoftMarginLossOptions& options = {});

namespace inner {
// The derivatives of the loss of each sample of MultilabelMarginLoss, [n, classes]; they are
// piecewise constant.
Tensor MultilabelMarginSlopes(const Tensor& x, const Tensor& target);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_MARGIN_H_
