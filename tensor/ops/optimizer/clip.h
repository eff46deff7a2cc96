#ifndef FIRN_TENSOR_OPS_OPTIMIZER_CLIP_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_CLIP_H_

#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct ClipGradNormAttrs {
  double max_norm = 1;
  double p = 2;
  template <class V>
  void Visit(V& v) {
    v.Field("max_norm", max_norm);
    v.Field("p", p);
  }
};

// Scales all of `grads` in place by min(1, max_norm / (norm + 1e-6)), where norm is the p-norm of
// all their elements, as if they were one vector (torch.nn.utils.clip_grad_norm_). Returns the norm
// before: 0-d, f64 if the first gradient is, else f32. `p` is positive; infinity is allowed.
// Users call optim::ClipGradNorm, which takes parameters. Throws unless there is a gradient, all
// are floating and contiguous, max_norm is not negative and p is positive.
Tensor ClipGradNorm(const std::vector<Tensor>& grads, double max_norm, double p = 2);

struct ClipGradValueAttrs {
  double limit = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("limit", limit);
  }
};

// Cuts the elements of all of `grads` off at -limit and limit, in place
// (torch.nn.utils.clip_grad_value_); NaN stays. Users call optim::ClipGradValue, which takes
// parameters. Throws unless there is a gradient, all are floating and contiguous, and limit is not
// negative.
void ClipGradValue(const std::vector<Tensor>& grads, double limit);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_CLIP_H_
