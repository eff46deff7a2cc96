#ifndef FIRN_TENSOR_OPS_CLIP_GRAD_VALUE_H_
#define FIRN_TENSOR_OPS_CLIP_GRAD_VALUE_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn::inner {

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

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_CLIP_GRAD_VALUE_H_
