#ifndef FIRN_TENSOR_OPS_LOSS_NLL_LOSS_H_
#define FIRN_TENSOR_OPS_LOSS_NLL_LOSS_H_

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct NllLossAttrs {
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
  int64_t classes = 0;  // of the gradient only: sizes that the other tensors do not have
  template <class V>
  void Visit(V& v) {
    v.Field("ignore_index", ignore_index);
    v.Field("reduction", reduction);
    v.Field("classes", classes);
  }
};
}  // namespace inner

struct NllLossOptions {
  Tensor weight = {};  // [classes]; undefined: 1 each. No gradient flows to it
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("weight", weight);
    v.Field("ignore_index", ignore_index);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// The negative log likelihood of class indices, like torch.nn.functional.nll_loss: -weight[t] of
// log_probs[t] for each sample with target t.
//   log_probs: [n, classes, ...] or [classes], floating: LogSoftmax's result
//   target: class indices (i32, i64) of shape [n, ...] or []
// Ignored targets, the mean and errors are those of CrossEntropy, which is faster and more accurate
// from logits.
Tensor NllLoss(const Tensor& log_probs, const Tensor& target, const NllLossOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_NLL_LOSS_H_
