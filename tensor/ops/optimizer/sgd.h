#ifndef FIRN_TENSOR_OPS_OPTIMIZER_SGD_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_SGD_H_

#include "absl/types/span.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct SgdStepAttrs {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool lr_in_velocity = false;  // v = momentum v + lr g; param -= v (NNabla's Momentum)
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("dampening", dampening);
    v.Field("weight_decay", weight_decay);
    v.Field("nesterov", nesterov);
    v.Field("lr_in_velocity", lr_in_velocity);
  }
};

// One step of stochastic gradient descent, in place (PyTorch's torch.optim.SGD):
//   g = grad + weight_decay param
//   v = momentum v + (1 - dampening) g        (g itself in the first step)
//   param -= lr (nesterov ? g + momentum v : v)
// `velocity` is v, undefined without momentum. `lr` and `step` (i64, the steps taken so far, which
// this one increments; may be undefined: not the first) are 0-d. The rest has param's shape and
// dtype. Requires NoGradScope when param needs a gradient.
void SgdStep(const Tensor& param, const Tensor& grad, const Tensor& velocity, const Tensor& lr,
             const Tensor& step = {}, const SgdStepAttrs& attrs = {});

// What SgdStep takes for one parameter.
struct SgdStepSlot {
  TensorRef param, grad, velocity, step;
};
// The same for many parameters, in one pass over all of them. Where `skip` (bool, 0-d; may be
// undefined) is true, nothing changes.
void SgdStep(absl::Span<const SgdStepSlot> slots, const Tensor& lr, const SgdStepAttrs& attrs = {},
             const Tensor& skip = {});
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_SGD_H_
