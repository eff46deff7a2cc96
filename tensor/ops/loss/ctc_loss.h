#ifndef FIRN_TENSOR_OPS_LOSS_CTC_LOSS_H_
#define FIRN_TENSOR_OPS_LOSS_CTC_LOSS_H_

#include <cstdint>

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct CtcLossAttrs {
  int64_t blank = 0;
  bool zero_infinity = false;
  template <class V>
  void Visit(V& v) {
    v.Field("blank", blank);
    v.Field("zero_infinity", zero_infinity);
  }
};

// The operation ctc_loss, written with others, which have gradients of any order; NaN where it is
// infinite. Requires: inputs that ctc_loss takes.
Tensor CtcLossByOperations(const Tensor& log_probs, const Tensor& targets,
                           const Tensor& input_lengths, const Tensor& target_lengths,
                           const CtcLossAttrs& attrs);
}  // namespace inner

struct CtcLossOptions {
  int64_t blank = 0;                       // the class that stands for no label
  Reduction reduction = Reduction::kMean;  // divides by the lengths of targets first
  bool zero_infinity = false;  // 0, without a gradient, for targets that do not fit their inputs
  template <class V>
  void Visit(V& v) {
    v.Field("blank", blank);
    v.Field("reduction", reduction);
    v.Field("zero_infinity", zero_infinity);
  }
  void Check(const char* where) const;
};

// Connectionist temporal classification (Graves et al., 2006), like torch.nn.functional.ctc_loss:
// for each sample, minus the logarithm of the probability of all sequences of T classes that become
// the target when repeats are merged and blanks then left out.
//   log_probs: [T, N, C] or [T, C] for one sample, floating: LogSoftmax's result
//   targets: i32 or i64, labels but not the blank: [N, S], of whose rows the first labels count;
//     or those of all samples behind one another. [S] for one sample
//   input_lengths, target_lengths: i32 or i64 [N], the used length of each; one number, [1] or
//     [], for one sample
// The result is [N] ([] for one sample) without a reduction, else []. The mean divides each loss by
// its target's length (1 for none) and then by N. A target that cannot be reached gives infinity,
// and a gradient of NaN unless `zero_infinity` is set.
//
// The gradient is that of the formula, for any log_probs; after LogSoftmax it equals PyTorch's,
// which assumes a LogSoftmax. A recorded gradient (create_graph) runs operations for each step and
// takes many times as long. Throws on lengths beyond the data, lengths of labels behind one another
// that do not add up to their number, and labels that are not a class or are the blank.
Tensor CtcLoss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
               const Tensor& target_lengths, const CtcLossOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_CTC_LOSS_H_
