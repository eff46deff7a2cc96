#ifndef FIRN_TENSOR_OPS_LOSS_CROSS_ENTROPY_H_
#define FIRN_TENSOR_OPS_LOSS_CROSS_ENTROPY_H_

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct CrossEntropyAttrs {
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("ignore_index", ignore_index);
    v.Field("reduction", reduction);
    v.Field("label_smoothing", label_smoothing);
  }
};
}  // namespace inner

struct CrossEntropyOptions {
  Tensor weight = {};  // [classes]; undefined: 1 each. No gradient flows to it from class indices
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("weight", weight);
    v.Field("ignore_index", ignore_index);
    v.Field("reduction", reduction);
    v.Field("label_smoothing", label_smoothing);
  }
  void Check(const char* where) const;
};

// The cross entropy between softmax(logits) and a target, like torch.nn.functional.cross_entropy.
//   logits: [n, classes, ...] or [classes], floating
//   target: class indices (i32, i64) of shape [n, ...] or [], or probabilities of logits' shape
// A sample with target t has the loss -weight[t] log softmax(logits)[t], or with probabilities
// -sum_j weight[j] p_j log softmax(logits)[j]. Smoothing by e replaces the target distribution p by
// (1 - e) p + e / classes. Samples with target `ignore_index` have loss 0 and get no gradient.
// The mean divides by the sum of the targets' weights (with probabilities: by the number of
// samples); if all samples are ignored, it is NaN. Throws on shapes that do not fit and on indices
// outside [0, classes).
Tensor CrossEntropy(const Tensor& logits, const Tensor& target,
                    const CrossEntropyOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_CROSS_ENTROPY_H_
