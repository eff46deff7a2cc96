#ifndef FIRN_TENSOR_OPS_OPTIMIZER_ADAM_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_ADAM_H_

#include "absl/types/span.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct AdamStepAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;        // AdamW: the decay shrinks the parameter and not the gradient
  bool eps_uncorrected = false;  // eps is added to the uncorrected root (NNabla)
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("decoupled", decoupled);
    v.Field("eps_uncorrected", eps_uncorrected);
  }
};

// One step of Adam (Kingma & Ba, 2015; Loshchilov & Hutter, 2019, when decoupled), in place, as
// torch.optim.Adam and AdamW do it. With t = step + 1:
//   g = grad + weight_decay param             (decoupled: param *= 1 - lr weight_decay instead)
//   mean = beta1 mean + (1 - beta1) g         var = beta2 var + (1 - beta2) g^2
//   param -= lr / (1 - beta1^t) mean / (sqrt(u / (1 - beta2^t)) + eps)
// where u is var or, when `max_var` is defined (AMSGrad; Reddi et al., 2018), its maximum so far,
// kept there. `lr` and `step` (i64, the steps taken before this one; incremented) are 0-d; the rest
// has param's shape and dtype. Requires NoGradScope when param needs a gradient.
void AdamStep(const Tensor& param, const Tensor& grad, const Tensor& mean, const Tensor& var,
              const Tensor& max_var, const Tensor& step, const Tensor& lr,
              const AdamStepAttrs& attrs = {});

// What AdamStep takes for one parameter.
struct AdamStepSlot {
  TensorRef param, grad, mean, var, max_var, step;
};
// The same for many parameters, in one pass over all of them. Where `skip` (bool, 0-d; may be
// undefined) is true, nothing changes.
void AdamStep(absl::Span<const AdamStepSlot> slots, const Tensor& lr,
              const AdamStepAttrs& attrs = {}, const Tensor& skip = {});
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_ADAM_H_
