#ifndef FIRN_TENSOR_OPS_KL_DIV_H_
#define FIRN_TENSOR_OPS_KL_DIV_H_

#include "tensor/ops/reduction_mode.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct KlDivAttrs {
  Reduction reduction = Reduction::kMean;
  bool log_target = false;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("log_target", log_target);
  }
};
}  // namespace inner
using KlDivOptions = inner::KlDivAttrs;

// The terms p (log p - log_q) of the Kullback-Leibler divergence from q to p, 0 for p = 0, as
// torch.nn.functional.kl_div. With `log_target` p is given as its logarithm. Two floating tensors
// of one shape and dtype. The default mean is over all elements, as PyTorch's; the divergence of
// distributions, averaged over a batch, is Reduction::kBatchMean.
Tensor KlDiv(const Tensor& log_q, const Tensor& p, const KlDivOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_KL_DIV_H_
